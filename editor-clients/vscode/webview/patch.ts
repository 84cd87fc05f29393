import type { DiffLine, FileDiff } from './diff.ts';

/** What a patch says of one file; its path as the patch has it. */
export interface PatchedFile {
  path: string | null;
  diff: FileDiff;
}

const HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/u;

/** Reads a git patch, or a plain unified one; what is no hunk of it is passed over. */
export function patchFiles(patch: string): PatchedFile[] {
  const reader = new Reader();
  for (const line of patch.split('\n')) {
    reader.read(line);
  }
  return reader.files.filter((file) => file.path !== null || file.diff.parts.length > 0);
}

class Reader {
  readonly files: PatchedFile[] = [];
  #before = 1;
  #after = 1;
  #oldLeft = 0;
  #newLeft = 0;

  read(line: string): void {
    const hunk = HUNK.exec(line);
    if (this.#oldLeft > 0 || this.#newLeft > 0) {
      if (!line.startsWith('\\')) {
        this.#readLine(line);
      }
    } else if (hunk) {
      const { diff } = this.#file();
      const from = diff.parts.length > 0 ? this.#after : 1;
      this.#before = Number(hunk[1]);
      this.#after = Number(hunk[3]);
      this.#oldLeft = Number(hunk[2] ?? 1);
      this.#newLeft = Number(hunk[4] ?? 1);
      diff.parts.push({ skipped: Math.max(this.#after - from, 0), lines: [] });
    } else if (line.startsWith('diff --git ')) {
      this.#begin();
    } else {
      this.#readName(line);
    }
  }

  #readName(line: string): void {
    const [, mark, name] = /^(---|\+\+\+|rename to) ([^\t]+)/u.exec(line) ?? [];
    if (mark === undefined || name === undefined) {
      return;
    }
    // Without git's own line, a name begins the next file.
    const file =
      mark === '---' && this.#file().diff.parts.length > 0 ? this.#begin() : this.#file();
    if (name !== '/dev/null') {
      file.path = name.replace(/^[ab]\//u, '');
    }
  }

  #readLine(line: string): void {
    const sign: DiffLine['sign'] = line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : ' ';
    const { diff } = this.#file();
    diff.parts.at(-1)?.lines.push({
      sign,
      text: line.slice(1).replace(/\r$/u, ''),
      before: sign === '+' ? null : this.#before,
      after: sign === '-' ? null : this.#after,
    });
    diff.added += sign === '+' ? 1 : 0;
    diff.removed += sign === '-' ? 1 : 0;
    if (sign !== '+') {
      this.#before += 1;
      this.#oldLeft -= 1;
    }
    if (sign !== '-') {
      this.#after += 1;
      this.#newLeft -= 1;
    }
  }

  #file(): PatchedFile {
    return this.files.at(-1) ?? this.#begin();
  }

  #begin(): PatchedFile {
    const file: PatchedFile = { path: null, diff: { parts: [], added: 0, removed: 0 } };
    this.files.push(file);
    return file;
  }
}
