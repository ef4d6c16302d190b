import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { freemem } from 'node:os'
import { dirname, join } from 'node:path'
import { openFilesLimit } from '#lib/limits/connection-limit.ts'
import { bubblewrapProblem } from '#lib/service/engine/bubblewrap/bubblewrap.ts'
import { machine, systemProblem } from '#lib/service/engine/bubblewrap/system.ts'
import { containersInstead, engineUrl, swarmAddresses } from '#lib/service/engine/choose-engine.ts'
import { describeLimits } from '#lib/service/engine/limits.ts'
import { slirpProblem } from '#lib/service/engine/network/outbound.ts'
import { machinePython } from '#lib/service/engine/python.ts'
import { floorsOf, freeDisk } from '#lib/service/evictions/pressure.ts'
import { countOf, sizeText } from '#lib/service/kit/amounts.ts'
import { descriptorsFor } from '#lib/service/kit/descriptors.ts'
import { databaseName, runningService, serviceIdOf } from '#lib/service/store/data-dir.ts'
import { inspectDatabase, lostDatabase } from '#lib/service/store/database.ts'
import {
  countRecorded,
  describeCount,
  hasRecorded,
  lostAndFoundName,
  lostFolders,
  namesIn,
  noneRecorded,
  notesIn,
  recordedFolders,
} from '#lib/service/store/lost-and-found.ts'
import { schemaVersion } from '#lib/service/store/schema.ts'
import { bytesBelow } from '#lib/service/store/stored-bytes.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import type { CommandLine } from './command-line.ts'

type Verdict = 'ok' | 'note' | 'wrong'
type Finding = [verdict: Verdict, subject: string, text: string]

export const doctor = async (commandLine: CommandLine) => {
  const findings: Finding[] = [
    ...versions(),
    ...(await isolation(commandLine)),
    ...(await containerEngine(commandLine)),
    ...(await service(commandLine)),
    ...data(commandLine),
    ...(await sizes(commandLine)),
    ...(await room(commandLine)),
    descriptors(commandLine),
  ]
  for (const [verdict, subject, text] of findings)
    console.log(`${verdict === 'ok' ? '     ' : verdict.padEnd(5)} ${subject.padEnd(12)} ${text}`)
  const wrong = findings.filter(([verdict]) => verdict === 'wrong').length
  console.log(wrong === 0 ? '\nNo problems found' : `\n${countOf(wrong, 'problem')} found`)
  process.exitCode = wrong === 0 ? 0 : 1
}

const versions = (): Finding[] => [
  ['ok', 'devdeck', `${packageJson.version}, database schema ${schemaVersion}`],
  ['ok', 'node', `${process.versions.node}, SQLite ${process.versions.sqlite}, ${process.platform} ${process.arch}`],
  ['ok', 'bwrap', versionOf('/usr/bin/bwrap')],
]

const versionOf = (file: string): string => {
  try {
    return execFileSync(file, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return existsSync(file) ? `${file} did not report its version` : 'not installed'
  }
}

const isolation = async (commandLine: CommandLine): Promise<Finding[]> => {
  const { isolation: requested, engine } = commandLine
  const problem = await bubblewrapProblem()
  if (problem !== undefined && (requested === 'container' || engine === 'swarm'))
    return [['ok', 'isolation', `devboxes run in containers; bubblewrap doesn't work on this host (${problem})`]]
  if (problem !== undefined)
    return [
      [
        requested === 'bubblewrap' ? 'wrong' : 'note',
        'isolation',
        `bubblewrap doesn't work on this host (${problem}); devboxes would run as plain processes of this user${containersInstead(commandLine)}`,
      ],
      ['ok', 'limits', describeLimits('none')],
      ['ok', 'network', "the host's"],
      ['ok', 'trials', 'Harbor tasks require bubblewrap or a container engine'],
    ]
  const networkProblem = slirpProblem()
  const outbound = networkProblem === undefined ? 'slirp4netns' : `an HTTP proxy only (${networkProblem})`
  return [
    ['ok', 'isolation', 'bubblewrap works: devboxes can be isolated'],
    ['ok', 'limits', describeLimits('bubblewrap')],
    ['ok', 'network', `one per devbox, outbound through ${outbound}`],
    ['ok', 'trials', await trialSystem()],
  ]
}

const swarm = async ({ dataDir, swarm, engineVariables }: CommandLine): Promise<Finding[]> => {
  if (!swarm) return [['wrong', 'swarm', '--engine swarm requires --engine-url, the address of a manager']]
  const { describeSwarm } = await import('#lib/service/engine/swarm/describe-swarm.ts')
  const addresses = await swarmAddresses(swarm, engineVariables)
  try {
    const { devboxes, nodes } = await describeSwarm(addresses, existingServiceId(dataDir))
    const summary = `${swarm.url}: ${countOf(nodes.length, 'node')}, ${countOf(devboxes, 'devbox', 'devboxes')} of this service`
    return [
      ['ok', 'swarm', summary],
      ...nodes.map(
        ({ hostname, problem }): Finding =>
          problem === undefined ? ['ok', 'node', `${hostname} is ready`] : ['note', 'node', `${hostname}: ${problem}`],
      ),
    ]
  } catch (error) {
    return [['wrong', 'swarm', (error as Error).message]]
  }
}

const existingServiceId = (dataDir: string) =>
  existsSync(join(dataDir, 'service-id')) ? serviceIdOf(dataDir) : undefined

const containerEngine = async (commandLine: CommandLine): Promise<Finding[]> => {
  const { dataDir, engine, isolation: requested, engineVariables } = commandLine
  if (engine === 'swarm') return swarm(commandLine)
  const finding = (verdict: Verdict, text: string): Finding => [verdict, 'engine', text]
  const url = engineUrl(commandLine)
  if (url === undefined && requested === 'container') return [finding('wrong', 'no container engine to run devboxes')]
  if (url === undefined) return [finding('ok', 'no container engine; images are not available')]
  try {
    const { parseEngineAddress } = await import('#lib/service/engine/container/engine-address.ts')
    const { describeEngine } = await import('#lib/service/engine/container/describe-engine.ts')
    const address = parseEngineAddress(url, engineVariables)
    const described = await describeEngine(address, existingServiceId(dataDir))
    const { version, drivers, notLimited, containers, images, networks } = described
    const limits = notLimited.length === 0 ? 'memory, cpu, pids' : `not limited: ${notLimited.join(', ')}`
    return [
      finding('ok', `${url}: ${version}`),
      finding(notLimited.length === 0 ? 'ok' : 'note', `${drivers}; ${limits}; disk per file`),
      finding(
        'ok',
        `${countOf(containers, 'container')}, ${countOf(images, 'image')} and ${countOf(networks, 'network')} of this service`,
      ),
    ]
  } catch (error) {
    const isRequired = engine !== undefined || requested === 'container'
    return [finding(isRequired ? 'wrong' : 'note', (error as Error).message)]
  }
}

const trialSystem = async () => {
  const problem = await systemProblem()
  if (problem !== undefined)
    return `read-only host system with one user (${problem}); outcomes of tasks that need more are marked`
  const { hasUsers } = await machine()
  const python = (await machinePython()) ?? "the system's"
  return `a writable system per trial, as root ${hasUsers ? 'with other users' : 'without other users'}; Python: ${python}`
}

const service = async ({ dataDir }: CommandLine): Promise<Finding[]> => {
  const running = runningService(dataDir)
  if (!running) return [['ok', 'service', 'not running']]
  const { pid, address } = running
  if (!address) return [['note', 'service', `starting (pid ${pid})`]]
  const problem = await fetch(`${address}/healthz`, { signal: AbortSignal.timeout(5_000) }).then(
    ({ ok, status }) => (ok ? undefined : `returned ${status}`),
    (error: Error) => `not responding: ${error.cause instanceof Error ? error.cause.message : error.message}`,
  )
  return [[problem ? 'wrong' : 'ok', 'service', `${problem ?? 'running'} at ${address} (pid ${pid})`]]
}

const data = ({ dataDir, keys }: CommandLine): Finding[] => {
  if (!existsSync(dataDir)) return [['ok', 'data', `${dataDir} doesn't exist yet; the first start creates it`]]
  const sharedModeBits = statSync(dataDir).mode & 0o077
  const findings: Finding[] = [
    sharedModeBits
      ? ['wrong', 'data', `${dataDir} is accessible to other users; run chmod 700`]
      : ['ok', 'data', dataDir],
  ]
  const lost = { ...noneRecorded }
  for (const folder of lostFolders(dataDir)) {
    const counts = countRecorded(folder)
    for (const kind of recordedFolders) lost[kind] += counts[kind]
  }
  if (hasRecorded(lost))
    findings.push([
      'note',
      'lost+found',
      `${describeCount(lost)} missing from the database, in ${join(dataDir, lostAndFoundName)}; restore with the recover command`,
    ])
  for (const note of lostFolders(dataDir).flatMap(notesIn)) findings.push(['note', 'lost+found', note])
  const file = join(dataDir, databaseName)
  try {
    const problem = lostDatabase(file)
    if (problem !== undefined) return [...findings, ['wrong', 'database', problem]]
    if (!existsSync(file)) return [...findings, ['ok', 'database', 'none yet']]
    const { schema, problem: damage, validKeys, revokedKeys } = inspectDatabase(file)
    findings.push([
      damage === undefined ? 'ok' : 'wrong',
      'database',
      damage ?? `ok, schema ${schema}${schema < schemaVersion ? '; the next start upgrades it' : ''}`,
    ])
    const configured = keys
      ? `${keys.length} in DEVDECK_API_KEYS`
      : existsSync(join(dataDir, 'api-key'))
        ? '1 in api-key'
        : 'none yet'
    findings.push(['ok', 'keys', `${validKeys} created with keys add, ${revokedKeys} revoked, ${configured}`])
  } catch (error) {
    findings.push(['wrong', 'database', (error as Error).message])
  }
  return findings
}

/** Sizes in the data folder, by kind of content. */
const sizes = async ({ dataDir }: CommandLine): Promise<Finding[]> => {
  if (!existsSync(dataDir)) return []
  const kinds = { database: 0, 'devbox disks': 0, 'command output': 0, 'devbox logs': 0, backups: 0, other: 0 }
  const found = new Map<string, number>(Object.entries(kinds))
  const add = (kind: string, bytes: number) => found.set(kind, (found.get(kind) ?? 0) + bytes)
  for (const name of readdirSync(dataDir)) {
    const path = join(dataDir, name)
    if (name === 'devboxes') continue
    if (statSync(path).isDirectory()) add(folderNames[name] ?? name, await bytesBelow(path))
    else
      add(name.endsWith('.bak') ? 'backups' : name.startsWith(databaseName) ? 'database' : 'other', statSync(path).size)
  }
  for (const id of namesIn(join(dataDir, 'devboxes'))) {
    const at = (name: string) => bytesBelow(join(dataDir, 'devboxes', id, name))
    const [all, output, logs] = [await at(''), await at('executions'), await at('log')]
    add('command output', output)
    add('devbox logs', logs)
    add('devbox disks', all - output - logs)
  }
  const parts = [...found].filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a)
  return [['ok', 'storage', parts.map(([kind, bytes]) => `${kind} ${sizeText(bytes)}`).join(', ')]]
}

const folderNames: Record<string, string> = { runs: 'run logs', 'agent-installs': 'agents' }

const room = async ({ dataDir, pressure }: CommandLine): Promise<Finding[]> => {
  const folder = nearest(dataDir)
  const floors = await floorsOf(pressure, folder)
  const finding = (subject: string, free: number, floor: number): Finding => [
    free < floor ? 'wrong' : 'ok',
    subject,
    `${sizeText(free)} free, ${floor === 0 ? 'no minimum' : `devboxes are evicted below ${sizeText(floor)}`}`,
  ]
  return [finding('memory', freemem(), floors.memory), finding('disk', await freeDisk(folder), floors.disk)]
}

const descriptors = ({ dataDir, limits }: CommandLine): Finding => {
  const pid = runningService(dataDir)?.pid
  const max = openFilesLimit(pid)
  const needed = descriptorsFor(limits.devboxes)
  const text = `${max} (\`ulimit -n\`), ${needed} required for --max-devboxes ${limits.devboxes}`
  return max < needed
    ? ['note', 'open files', `${text}; devboxes beyond the limit are rejected with 503`]
    : ['ok', 'open files', text]
}

const nearest = (path: string): string => (existsSync(path) ? path : nearest(dirname(path)))
