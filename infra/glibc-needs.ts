// The newest C and C++ library a native addon asks for, read from the version names in its ELF string table. Pure. Names that stand there
// without being needed could only make the answer stricter. The rig's host is Ubuntu 22.04: glibc 2.35, and libstdc++ of GCC 12.

export interface LibraryNeeds {
  /** As in "2.34"; null when the addon names none. */
  readonly glibc: string | null;
  readonly glibcxx: string | null;
}

/** What Ubuntu 22.04 has. */
export const HOST_LIBRARIES = { glibc: '2.35', glibcxx: '3.4.30' } as const;

export function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split('.').map(Number), b.split('.').map(Number)];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function highest(text: string, prefix: string): string | null {
  const found = [...text.matchAll(new RegExp(`\\0${prefix}_(\\d+(?:\\.\\d+)+)(?=\\0)`, 'g'))].map((match) => match[1]!);
  return found.sort(compareVersions).at(-1) ?? null;
}

/** `content`: the bytes of a .node file. */
export function libraryNeeds(content: Uint8Array): LibraryNeeds {
  const text = Buffer.from(content).toString('latin1');
  return { glibc: highest(text, 'GLIBC'), glibcxx: highest(text, 'GLIBCXX') };
}

/** What `needs` has above the host; null when all of it is there. */
export function beyondHost(needs: LibraryNeeds): string | null {
  for (const library of ['glibc', 'glibcxx'] as const) {
    const needed = needs[library];
    if (needed !== null && compareVersions(needed, HOST_LIBRARIES[library]) > 0)
      return `${library.toUpperCase()}_${needed}, Ubuntu 22.04 has ${HOST_LIBRARIES[library]}`;
  }
  return null;
}
