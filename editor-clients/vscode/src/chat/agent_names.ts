import { type Disposable, type Event, EventEmitter } from 'vscode';

import type { ListedAgent } from '../protocol.ts';
import type { Sidecar } from '../sidecar.ts';
import type { AgentNames } from './sources.ts';

/** What `acp.agent.list` says, asked anew whenever the sidecar starts. */
export class ListedAgents implements AgentNames, Disposable {
  readonly #changed = new EventEmitter<undefined>();
  readonly #sidecar: Sidecar;
  readonly #registration: Disposable;
  #names: string[] = [];

  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
    this.#registration = sidecar.onDidChangeRunning((running) => {
      if (running) {
        void this.refresh();
      }
    });
  }

  get onDidChange(): Event<undefined> {
    return this.#changed.event;
  }

  names(): string[] {
    return this.#names;
  }

  /** Looks again which agents there are. A failure leaves the list as it was. */
  async refresh(): Promise<void> {
    const listed = await this.#sidecar.command<ListedAgent[]>('acp.agent.list').then(
      (agents) => agents,
      () => null,
    );
    if (listed) {
      this.#names = listed.filter(({ offered }) => offered).map(({ name }) => name);
      this.#changed.fire(undefined);
    }
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}
