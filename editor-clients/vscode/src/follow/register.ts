import type { Uri } from 'vscode';

import type { Sessions } from '../sessions/sessions.ts';
import type { Sidecar } from '../sidecar.ts';
import { Activity } from './activity.ts';
import { Follow } from './follow.ts';
import { Marks } from './marks.ts';
import { LastEditor } from './selection.ts';
import { StatusBar } from './status_bar.ts';

/**
 * All that is to following the agents. Before the sidecar's first start.
 *
 * @param chatHasFocus whether the user's keys go to the chat
 */
export function registerFollow(
  extensionUri: Uri,
  sidecar: Sidecar,
  sessions: Sessions,
  chatHasFocus: () => boolean,
): { dispose(): unknown }[] {
  const marks = new Marks(extensionUri);
  const follow = new Follow(sidecar, sessions, marks, chatHasFocus);
  return [
    marks,
    follow,
    new Activity(sidecar, sessions, follow),
    new StatusBar(sidecar, sessions),
    new LastEditor(sidecar),
  ];
}
