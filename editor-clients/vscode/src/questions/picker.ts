import {
  type Event,
  type QuickInputButton,
  QuickInputButtons,
  type QuickPickItem,
  QuickPickItemKind,
  window,
} from 'vscode';

/** A row of a list; one without a `choice` only says something. */
export interface Row<T> extends QuickPickItem {
  choice?: T;
}

interface List<T> {
  title: string;
  placeholder: string;
  rows: Row<T>[];
  /** Whether there is a list to go back to. */
  back?: boolean;
  /** Closes the list once `stillOpen` says no. */
  onDidChange: Event<unknown>;
  stillOpen(): boolean;
}

/**
 * For so long after the list has appeared, or after a letter, nothing is taken: what was typed
 * or clicked for something else comes without a pause.
 */
const PAUSE_MS = 500;

/** What a list answers where the user goes back to the one before. */
export const BACK = Symbol('back');

/**
 * Lets the user pick a row, by nothing but a deliberate choice: the first row is the one that
 * Enter would take, and it should be one that only says something. Letters choose nothing,
 * also not where VS Code has already gone to the row that begins so.
 *
 * @returns the choice, `BACK`, or null where the list was closed.
 */
export function pick<T>(list: List<T>): Promise<T | typeof BACK | null> {
  if (!list.stillOpen()) {
    return Promise.resolve(null);
  }
  const shown = window.createQuickPick<Row<T>>();
  const subscriptions: { dispose(): unknown }[] = [];
  shown.title = list.title;
  shown.placeholder = list.placeholder;
  shown.ignoreFocusOut = true;
  shown.items = list.rows.map((row) => ({ alwaysShow: true, ...row }));
  shown.buttons = list.back ? [QuickInputButtons.Back] : [];
  const first = () => shown.items.find(({ kind }) => kind !== QuickPickItemKind.Separator);
  let quietSince = Date.now();
  const rest = () => {
    const row = first();
    shown.activeItems = row ? [row] : [];
    // A row that stays selected takes no further click.
    shown.selectedItems = [];
  };
  return new Promise((resolve) => {
    const done = (choice: T | typeof BACK | null) => {
      // The list last: it says that it hides while it is disposed of.
      for (const subscription of [...subscriptions, shown]) {
        subscription.dispose();
      }
      resolve(choice);
    };
    subscriptions.push(
      shown.onDidChangeValue(() => {
        quietSince = Date.now();
        shown.value = '';
        rest();
      }),
      shown.onDidAccept(() => {
        const choice = shown.selectedItems[0]?.choice;
        if (Date.now() - quietSince < PAUSE_MS) {
          rest();
        } else if (choice !== undefined) {
          done(choice);
        }
      }),
      shown.onDidTriggerButton((button: QuickInputButton) => {
        if (button === QuickInputButtons.Back) {
          done(BACK);
        }
      }),
      shown.onDidHide(() => done(null)),
      list.onDidChange(() => {
        if (!list.stillOpen()) {
          done(null);
        }
      }),
    );
    rest();
    shown.show();
  });
}

/** A line across a list, with a word on what follows. */
export function separator<T>(label: string): Row<T> {
  return { label, kind: QuickPickItemKind.Separator };
}
