/** The contents of stored files, apart from their rows: by key, written once, never changed. */

/** `end` is exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface FileBytes {
  /** Once this has resolved, the bytes survive every end of the process that their row survives. */
  write(key: string, bytes: Uint8Array): Promise<void>;
  /** `null` when there is nothing of that key (any more). */
  read(key: string, range?: ByteRange): Promise<Uint8Array | null>;
  remove(key: string): Promise<void>;
}

/** For rows that are gone when the process ends. */
export function bytesInMemory(): FileBytes {
  const files = new Map<string, Uint8Array>();
  return {
    write: async (key, bytes) => void files.set(key, bytes),
    read: async (key, range) => {
      const bytes = files.get(key);
      if (bytes === undefined) return null;
      return range === undefined ? bytes : bytes.subarray(range.start, range.end);
    },
    remove: async (key) => void files.delete(key),
  };
}
