import { has } from './docker.ts'
import { hasDocker } from './has-docker.ts'

const missing = ['docker-registry', 'iptables', 'ip', 'nsenter', 'setpriv'].filter((program) => !has(program))
if (hasDocker && missing.length > 0) console.error(`The swarm tests are skipped: ${missing.join(', ')} not installed`)

/** Whether this machine can start a swarm. */
export const hasSwarm = hasDocker && missing.length === 0

/** Long tests of a swarm, and the devbox suites on it, run only with `npm run test:swarm`. */
export const runsLongSwarmTests = hasSwarm && process.env.DEVDECK_SWARM_TESTS === '1'
