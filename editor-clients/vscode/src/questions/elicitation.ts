import type { Elicitation, ElicitationAnswer } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';
import { Requests } from './requests.ts';

/**
 * What agents want to know and has no answer yet. What is filled in goes to the sidecar and
 * is kept nowhere: it may be a secret. A form that does not fit comes again.
 */
export class Elicitations extends Requests<Elicitation, ElicitationAnswer> {
  /** Before the sidecar's first start. */
  constructor(sidecar: Sidecar) {
    super(sidecar, 'acp/elicitation');
  }

  /** Answers a form, with the user's no as well. False where it does not wait any more. */
  answer(requestId: string, answer: ElicitationAnswer): boolean {
    return this.settle(requestId, answer);
  }
}
