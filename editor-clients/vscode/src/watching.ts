import {
  type Disposable,
  languages,
  RelativePattern,
  type TextDocument,
  type Uri,
  workspace,
  type WorkspaceFolder,
} from 'vscode';

/**
 * Has VS Code watch the open files that `files.watcherExclude` leaves out: it would not notice that
 * an agent has written them, show the text of before and refuse to save what is typed there.
 */
export class OpenFiles implements Disposable {
  readonly #watchers = new Map<string, Disposable>();
  readonly #registrations: Disposable[];

  constructor() {
    this.#registrations = [
      workspace.onDidOpenTextDocument((document) => this.#watch(document)),
      workspace.onDidCloseTextDocument((document) => this.#forget(document.uri)),
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('files.watcherExclude')) {
          this.#watchAll();
        }
      }),
      workspace.onDidChangeWorkspaceFolders(() => this.#watchAll()),
    ];
    this.#watchAll();
  }

  dispose(): void {
    for (const each of this.#registrations) {
      each.dispose();
    }
    this.#forgetAll();
  }

  #watchAll(): void {
    this.#forgetAll();
    workspace.textDocuments.forEach((document) => this.#watch(document));
  }

  #watch(document: TextDocument): void {
    const folder = workspace.getWorkspaceFolder(document.uri);
    const key = document.uri.toString();
    if (folder === undefined || document.uri.scheme !== 'file' || this.#watchers.has(key)) {
      return;
    }
    if (isExcluded(document, folder)) {
      // Of a path itself, not of what is below it, VS Code watches just what it else leaves out. The
      // folder would not do: it is looked for among what is watched already, and found there.
      const pattern = new RelativePattern(document.uri, '*');
      this.#watchers.set(key, workspace.createFileSystemWatcher(pattern));
    }
  }

  #forget(uri: Uri): void {
    this.#watchers.get(uri.toString())?.dispose();
    this.#watchers.delete(uri.toString());
  }

  #forgetAll(): void {
    for (const each of this.#watchers.values()) {
      each.dispose();
    }
    this.#watchers.clear();
  }
}

function isExcluded(document: TextDocument, folder: WorkspaceFolder): boolean {
  const excluded = workspace
    .getConfiguration('files', document.uri)
    .get<Record<string, boolean>>('watcherExclude', {});
  return Object.entries(excluded)
    .filter(([, on]) => on)
    .flatMap(([glob]) => [glob, `${glob}/**`])
    .some((glob) => languages.match({ pattern: new RelativePattern(folder, glob) }, document) > 0);
}
