/** The parser by which tests read metrics has no types of its own. */
declare module "parse-prometheus-text-format" {
  interface Parsed {
    name: string;
    help: string;
    type: "GAUGE" | "COUNTER" | "HISTOGRAM" | "SUMMARY" | "UNTYPED";
    metrics: {
      labels?: Record<string, string>;
      value?: string;
      buckets?: Record<string, string>;
      count?: string;
      sum?: string;
    }[];
  }
  export default function parse(text: string): Parsed[];
}
