// Overwrites pages of an SQLite file, as a disk or a stray program would. The first page is left alone: the file still looks like a database.
import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';

/** Pages from the second on that are overwritten: the roots of a small file's tables. */
const PAGES = 3;

/** Throws when the file is too small to have such pages. */
export function damagePages(path: string): void {
  const fd = openSync(path, 'r+');
  try {
    const header = Buffer.alloc(100);
    readSync(fd, header, 0, header.length, 0);
    const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
    const pages = header.readUInt32BE(28);
    if (pages < 2) throw new Error(`${path} has ${pages} page(s), nothing to damage`);
    for (let page = 1; page < Math.min(pages, 1 + PAGES); page++)
      writeSync(fd, Buffer.alloc(pageBytes, 0xa5), 0, pageBytes, page * pageBytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
