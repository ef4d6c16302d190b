import { benchAxonPages } from './axon-list.ts'
import { benchAxons } from './axons.ts'
import { benchExecutions } from './executions.ts'
import { benchLogArchive } from './log-archive.ts'
import { benchStartup } from './startup.ts'

/**
 * Measurements as ratios, so that they mean the same on another machine: each number stands beside what the same work
 * costs without the service, taken in turns in the same run. `npm run bench [-- axons]`.
 */

const benches: Record<string, () => Promise<void>> = {
  axons: benchAxons,
  'axon-list': benchAxonPages,
  executions: benchExecutions,
  startup: benchStartup,
  zip: benchLogArchive,
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in benches))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}; there is ${Object.keys(benches).join(', ')}`)
  process.exit(1)
}
for (const [name, bench] of Object.entries(benches)) if (asked.length === 0 || asked.includes(name)) await bench()
