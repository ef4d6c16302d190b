import { benchContainers } from './containers.ts'
import { benchImport } from './import.ts'
import { benchJobPage } from './job-page.ts'
import { benchAxonList, benchDevboxList } from './lists.ts'
import { benchReports } from './reports.ts'
import { benchSwarm } from './swarm.ts'
import { benchTerminal, benchTerminalOpen } from './terminal.ts'

/** `npm run bench [-- terminal --quick]`. `--quick` shortens the terminal's measurements. */
const benches: Record<string, () => Promise<void>> = {
  'axon-list': benchAxonList,
  containers: benchContainers,
  'devbox-list': benchDevboxList,
  import: benchImport,
  'job-page': benchJobPage,
  reports: benchReports,
  swarm: benchSwarm,
  terminal: benchTerminal,
  'terminal-open': benchTerminalOpen,
}

const names = Object.keys(benches)
const requested = process.argv.slice(2).filter((word) => word !== '--quick')
const unknown = requested.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`Unknown benchmark ${unknown.join(', ')}. Available: ${names.join(', ')}`)
  process.exit(1)
}
for (const name of requested.length === 0 ? names : requested) await benches[name]?.()
