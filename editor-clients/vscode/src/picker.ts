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

export const BACK = Symbol('back');

/**
 * Lets the user pick a row, by nothing but a deliberate choice: the first row is the one that
 * Enter would take, and it should be one that only says something; letters are no filter.
 *
 * @returns the choice, `BACK`, or null where the list was closed.
 */
export function pick<T>(list: List<T>): Promise<T | typeof BACK | null> {
  const shown = window.createQuickPick<Row<T>>();
  const subscriptions: { dispose(): unknown }[] = [];
  shown.title = list.title;
  shown.placeholder = list.placeholder;
  shown.ignoreFocusOut = true;
  shown.items = list.rows.map((row) => ({ alwaysShow: true, ...row }));
  shown.buttons = list.back ? [QuickInputButtons.Back] : [];
  const first = () => shown.items.find(({ kind }) => kind !== QuickPickItemKind.Separator);
  const rest = () => {
    const row = first();
    shown.activeItems = row ? [row] : [];
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
        shown.value = '';
        rest();
      }),
      shown.onDidAccept(() => {
        const choice = shown.selectedItems[0]?.choice;
        if (choice !== undefined) {
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

export function separator<T>(label: string): Row<T> {
  return { label, kind: QuickPickItemKind.Separator };
}
