import {
  type Disposable,
  FileDecoration,
  type FileDecorationProvider,
  ThemeColor,
  Uri,
  window,
} from 'vscode';

import type { FileChange } from '../protocol.ts';

const SCHEME = 'acp-change';

const LETTERS = {
  modified: ['M', 'gitDecoration.modifiedResourceForeground'],
  created: ['A', 'gitDecoration.addedResourceForeground'],
  deleted: ['D', 'gitDecoration.deletedResourceForeground'],
  renamed: ['R', 'gitDecoration.renamedResourceForeground'],
  conflict: ['!', 'gitDecoration.conflictingResourceForeground'],
  proposed: ['?', 'acp.proposedMarker'],
} as const;

type Letter = keyof typeof LETTERS;

const TOOLTIPS: Readonly<Record<Letter, string>> = {
  modified: 'Changed by an agent',
  created: 'Made by an agent',
  deleted: 'Deleted by an agent',
  renamed: 'Moved by an agent',
  conflict: 'You and an agent have changed the same lines',
  proposed: 'An agent waits for your word',
};

/** A URI that only rows of our view have: letters in the explorer are git's. */
export function badged(change: FileChange): Uri {
  return Uri.parse(change.uri).with({ scheme: SCHEME, query: letterOf(change) });
}

function letterOf(change: FileChange): Letter {
  if ([...change.hunks, ...(change.proposed ?? [])].some(({ state }) => state === 'conflict')) {
    return 'conflict';
  }
  return change.proposed?.length ? 'proposed' : change.status;
}

/** The letters and colours of the files in the view "Changes". */
export class FileBadges implements FileDecorationProvider, Disposable {
  readonly #registration = window.registerFileDecorationProvider(this);

  provideFileDecoration(uri: Uri): FileDecoration | null {
    if (uri.scheme !== SCHEME || !(uri.query in LETTERS)) {
      return null;
    }
    const letter = uri.query as Letter;
    const [badge, color] = LETTERS[letter];
    return new FileDecoration(badge, TOOLTIPS[letter], new ThemeColor(color));
  }

  dispose(): void {
    this.#registration.dispose();
  }
}
