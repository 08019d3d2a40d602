/** A proxy between workers and a backend: it loses calls and answers, repeats calls, delays them, and cuts sockets. */
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { randomStream, type RandomStream } from "../../local/virtual/random.js";

export interface Faults {
  /**
   * Shares of all calls, each from 0 to 1: of 0.1, one in each ten calls, drawn anew. A lost call never arrives; of a lost
   * answer the call did.
   */
  callLost?: number;
  answerLost?: number;
  repeated?: number;
  delayed?: number;
  /** A delayed call waits so long at most. */
  delayMaxMs?: number;
  /** All sockets are cut once in so long. */
  cutEveryMs?: number;
}

type Fault = "callLost" | "answerLost" | "repeated" | "delayed";

interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

export class Network {
  readonly seen = { calls: 0, callLost: 0, answerLost: 0, repeated: 0, delayed: 0, cut: 0 };
  readonly #server = createServer((call, answer) => void this.#pass(call, answer));
  readonly #sockets = new Set<Duplex>();
  readonly #random: RandomStream;
  #faults: Faults = {};
  /** Of each fault: how many calls its block has left, and before how many of them are left it happens. */
  readonly #blocks: Partial<Record<Fault, { left: number; until: number }>> = {};
  #cutting: NodeJS.Timeout | undefined;

  private constructor(
    private readonly target: URL,
    seed: number,
  ) {
    this.#random = randomStream(seed, "network");
    this.#server.on("upgrade", (call: IncomingMessage, socket, head) =>
      this.#join(call, socket, head),
    );
  }

  static async before(target: string, seed: number): Promise<Network> {
    const network = new Network(new URL(target), seed);
    await new Promise<void>((resolve) => network.#server.listen(0, "127.0.0.1", resolve));
    return network;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on these faults, and no further ones. */
  fail(faults: Faults): void {
    this.#faults = faults;
    for (const fault of Object.keys(this.#blocks)) delete this.#blocks[fault as Fault];
    clearInterval(this.#cutting);
    if (faults.cutEveryMs !== undefined)
      this.#cutting = setInterval(() => this.#cut(), faults.cutEveryMs);
  }

  async close(): Promise<void> {
    this.fail({});
    this.#cut();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #happens(fault: Fault): boolean {
    const share = this.#faults[fault] ?? 0;
    if (share === 0) return false;
    const block = (this.#blocks[fault] ??= { left: 0, until: 0 });
    if (block.left === 0) {
      block.left = Math.round(1 / share);
      block.until = 1 + Math.floor(this.#random.next() * block.left);
    }
    const happens = block.left-- === block.until;
    if (happens) this.seen[fault]++;
    return happens;
  }

  async #pass(call: IncomingMessage, answer: ServerResponse): Promise<void> {
    this.seen.calls++;
    try {
      const parts: Buffer[] = [];
      for await (const part of call) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      if (this.#happens("delayed"))
        await pause(this.#random.next() * (this.#faults.delayMaxMs ?? 0));
      if (this.#happens("callLost")) throw new Error("lost");
      const first = this.#forward(call, body);
      const second = this.#happens("repeated") ? this.#forward(call, body) : first;
      const [{ status, headers, body: text }] = await Promise.all([first, second]);
      if (this.#happens("answerLost")) throw new Error("lost");
      answer.writeHead(status, headers).end(text);
    } catch {
      call.socket.destroy();
    }
  }

  #forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.target;
      const to = { hostname, port, method, path: url, headers };
      const forwarded = request(to, (came) => {
        const parts: Buffer[] = [];
        came.on("data", (part: Buffer) => parts.push(part));
        came.on("error", reject);
        came.on("end", () =>
          resolve({ status: came.statusCode!, headers: came.headers, body: Buffer.concat(parts) }),
        );
      });
      forwarded.on("error", reject);
      forwarded.end(body);
    });
  }

  /** A socket, as it is, both ways. */
  #join(call: IncomingMessage, near: Duplex, head: Buffer): void {
    const far: Socket = connect(Number(this.target.port), this.target.hostname);
    const headers = call.rawHeaders.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    far.write(`${call.method} ${call.url} HTTP/1.1\r\n${headers.join("")}\r\n`);
    far.write(head);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
    this.#sockets.add(near);
    near.on("close", () => this.#sockets.delete(near));
  }

  #cut(): void {
    for (const socket of this.#sockets) {
      this.seen.cut++;
      socket.destroy();
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
