/** A place in a file as it stands in a text; `line` counts from 1. */
export interface Place {
  path: string;
  line: number | null;
}

const LINE = /^(.+?)(?::(\d{1,7})(?::\d{1,7})?(?:-\d{1,7})?|#L(\d{1,7})(?:-L?\d{1,7})?)?$/su;

/** A path with a line behind it, `a.py:12`, `a.py:12:3` or `a.py#L12`, as a place. */
export function placeOf(text: string): Place {
  const [, path = text, colon, hash] = LINE.exec(text) ?? [];
  const line = colon ?? hash;
  return { path, line: line === undefined ? null : Number(line) };
}

/**
 * What a link's target or a piece of code says of a file, or null where it looks like no path:
 * `src/a.py`, `a.py:12`, `/ws/a.py#L3`, `file:///ws/a.py`. A single word needs a line, since
 * `os.path` is none.
 */
export function pathIn(text: string): Place | null {
  if (/^file:/iu.test(text)) {
    return fileUri(text);
  }
  if (/[\s\p{C}<>|"*?`]/u.test(text) || /^[a-z][a-z0-9+.-]+:(?!\d)/iu.test(text)) {
    return null;
  }
  const place = placeOf(text);
  const name = place.path.split(/[\\/]/u).at(-1) ?? '';
  const named =
    /^[\w.@+~()[\]-]*\.[A-Za-z]\w{0,9}$/u.test(name) || /^(?:Make|Docker)file$/u.test(name);
  const placed = /[\\/]/u.test(place.path) || place.line !== null;
  return named && placed && !place.path.includes('//') ? place : null;
}

function fileUri(text: string): Place | null {
  try {
    const url = new URL(text);
    const path = decodeURIComponent(url.pathname).replace(/^\/(?=[A-Za-z]:)/u, '');
    const line = /^#L?(\d{1,7})/u.exec(url.hash)?.[1];
    const place = placeOf(path);
    return { path: place.path, line: line === undefined ? place.line : Number(line) };
  } catch {
    return null;
  }
}

/** A path as short as it says the same: relative where it is in the folder `cwd`. */
export function shortPath(path: string, cwd: string | null): string {
  const folder = inside(cwd);
  return folder !== null && path.startsWith(folder) && path.length > folder.length
    ? path.slice(folder.length)
    : path;
}

/** What an agent calls something, with the paths in it as short as {@link shortPath} makes them. */
export function shortTitle(title: string, cwd: string | null): string {
  const folder = inside(cwd);
  if (folder === null) {
    return title;
  }
  // Some leave out the first slash where a path is all of it.
  const whole = `/${title}`.startsWith(folder) ? `/${title}` : title;
  const short = whole.replaceAll(folder, (found, at: number) =>
    at === 0 || /[\s"'`(]/u.test(whole.charAt(at - 1)) ? '' : found,
  );
  return short.trim() === '' ? title : short;
}

/** Whether a path is that of the folder `cwd` itself. */
export function isFolder(path: string, cwd: string | null): boolean {
  const bare = (it: string) => it.replace(/(?<=.)[\\/]+$/u, '');
  return cwd !== null && cwd !== '' && bare(path) === bare(cwd);
}

/** How every path in a folder begins, null where there is no folder. */
function inside(cwd: string | null): string | null {
  if (cwd === null || cwd === '') {
    return null;
  }
  return /[\\/]$/u.test(cwd) ? cwd : `${cwd}${cwd.includes('\\') ? '\\' : '/'}`;
}

/** The last part of a path, for a name. */
export function basename(path: string): string {
  return path.split(/[\\/]/u).filter(Boolean).at(-1) ?? path;
}
