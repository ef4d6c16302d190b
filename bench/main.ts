import { benchAxonEvents } from './axon-events.ts'
import { benchAxonPages } from './axon-list.ts'
import { benchAxons } from './axons.ts'
import { benchDevboxPages } from './devbox-list.ts'
import { benchEvictions } from './evictions.ts'
import { benchExecutions } from './executions.ts'
import { benchJobPage } from './job-page.ts'
import { benchJobs } from './jobs.ts'
import { benchLogArchive } from './log-archive.ts'
import { benchStartup } from './startup.ts'
import { benchTerminal, benchTerminalOpen } from './terminal.ts'

/**
 * Measures ratios, so that results are comparable between machines: each figure is next to the same work without the
 * service, measured alternately. `npm run bench [-- axons]`.
 */

const benches: Record<string, () => Promise<void>> = {
  axons: benchAxons,
  'axon-list': benchAxonPages,
  'devbox-list': benchDevboxPages,
  executions: benchExecutions,
  startup: benchStartup,
  zip: benchLogArchive,
}

/** Run only by name. */
const longBenches: typeof benches = {
  jobs: benchJobs,
  'job-page': benchJobPage,
  'axon-events': benchAxonEvents,
  evictions: benchEvictions,
  terminal: benchTerminal,
  'terminal-open': benchTerminalOpen,
}

const all = { ...benches, ...longBenches }
/** `--quick` shortens some benchmarks. */
const requested = process.argv.slice(2).filter((word) => word !== '--quick')
const unknown = requested.filter((name) => !(name in all))
if (unknown.length > 0) {
  console.error(`Unknown benchmark ${unknown.join(', ')}. Available: ${Object.keys(all).join(', ')}`)
  process.exit(1)
}
for (const [name, bench] of Object.entries(requested.length === 0 ? benches : all))
  if (requested.length === 0 || requested.includes(name)) await bench()
