import type { Disposable } from 'vscode';

import type { Sessions } from '../sessions/sessions.ts';
import type { Sidecar } from '../sidecar.ts';
import { ChangesView } from './changes_view.ts';
import { Checkpoints } from './checkpoints.ts';
import { reviewCommands } from './commands.ts';
import { Decorations } from './decorations.ts';
import { ReviewDocuments } from './documents.ts';
import { FileBadges } from './file_badges.ts';
import { Hunks } from './hunks.ts';
import { Review } from './review.ts';
import { Steps } from './steps.ts';
import { ReviewTexts } from './texts.ts';

/** The review of what agents have changed: everything but the code lenses, which are LSP's. */
export function registerReview(
  sidecar: Sidecar,
  sessions: Sessions,
): Pick<Disposable, 'dispose'>[] {
  const review = new Review(sessions);
  const texts = new ReviewTexts(sidecar);
  const steps = new Steps(sidecar, sessions);
  const hunks = new Hunks(sidecar);
  const checkpoints = new Checkpoints(sidecar, sessions, steps);
  return [
    review,
    steps,
    checkpoints,
    new FileBadges(),
    new ReviewDocuments(review, texts),
    new Decorations(review, texts),
    new ChangesView(review, texts),
    ...reviewCommands({ review, steps, hunks, checkpoints }),
  ];
}
