/**
 * Stored files as files of a folder, each named by its key. One is on the disk, with its name, before its row commits;
 * so a crash between the two leaves a file that nothing names, and never a row without its file.
 */
import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { ByteRange, FileBytes } from "./bytes.js";

export function bytesInFolder(folder: string): FileBytes {
  const fileOf = (key: string): string => {
    // Keys are made here and read from rows; one that is a path would be a way out of the folder.
    if (!/^[0-9a-f-]+$/.test(key)) throw new Error(`"${key}" is no key of a stored file.`);
    return path.join(folder, key);
  };
  return {
    async write(key, bytes) {
      await mkdir(folder, { recursive: true });
      const target = fileOf(key);
      const unfinished = `${target}.unfinished`;
      const file = await open(unfinished, "w");
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, target);
      await syncFolder(folder);
    },
    async read(key, range) {
      try {
        return await readPart(fileOf(key), range);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw error;
      }
    },
    remove: (key) => rm(fileOf(key), { force: true }),
  };
}

async function readPart(name: string, range: ByteRange | undefined): Promise<Uint8Array> {
  const file = await open(name, "r");
  try {
    if (range === undefined) return await file.readFile();
    const bytes = new Uint8Array(range.end - range.start);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, range.start);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The new name itself must be on the disk. */
async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
