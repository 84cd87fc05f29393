/** An editor group, as far as the choice of a column needs it. */
export interface Column {
  /** From 1, as `TabGroup.viewColumn`. */
  column: number;
  /** Whether the user's keys go there, unless they go to something that is no editor. */
  active: boolean;
  empty: boolean;
  /** The URI of the text that can be seen in it. */
  shows: string | null;
}

export interface Situation {
  columns: Column[];
  /** Where places were shown so far. */
  agents: number | null;
  /** Columns that were the agent's until the user went there. */
  earlier: number[];
  /** Whether the user's keys go to the chat, hence to no editor. */
  chatHasFocus: boolean;
}

/** `ViewColumn.Beside`: VS Code takes the column to the right, or makes one. */
export const BESIDE = -2;

/**
 * The column in which to show a place. Never one in which the user may be typing: VS Code drops
 * the focus where another text comes into the active group, and the keys are lost.
 */
export function columnFor(uri: string, situation: Situation): number {
  const { columns, agents, earlier, chatHasFocus } = situation;
  const free = columns.filter((each) => !each.active);
  const own = columns.find((each) => each.column === agents);
  const [only] = columns;
  if (own?.shows === uri && !own.active) {
    return own.column;
  }
  const visible = free.find((each) => each.shows === uri);
  if (visible) {
    return visible.column;
  }
  if (own && (!own.active || chatHasFocus)) {
    return own.column;
  }
  if (only && columns.length === 1 && only.empty) {
    return only.column;
  }
  return free.find((each) => earlier.includes(each.column))?.column ?? BESIDE;
}
