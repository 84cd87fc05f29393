/** What a test imports. */

export { type ServerOptions } from './server.ts';
export { scenario } from './scenario.ts';
export { until, untilSame } from './until.ts';
export { kill } from './processes.ts';
export { type Workbench } from './workbench.ts';
