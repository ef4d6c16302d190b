import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openFilesLimit } from '#lib/limits/connection-limit.ts'
import { describeIsolation } from '#lib/service/engine/doctor.ts'
import { floorsOf, freeDisk, freeMemory } from '#lib/service/evictions/pressure.ts'
import { countOf, sizeText } from '#lib/service/kit/amounts.ts'
import { descriptorsFor } from '#lib/service/kit/descriptors.ts'
import { databaseName, runningService } from '#lib/service/store/data-dir.ts'
import { inspectDatabase, lostDatabase } from '#lib/service/store/database.ts'
import {
  countRecorded,
  describeCount,
  lostAndFoundName,
  lostFolders,
  notesIn,
} from '#lib/service/store/lost-and-found.ts'
import { schemaVersion } from '#lib/service/store/schema.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import type { CommandLine } from './command-line.ts'

/** `note`: worth knowing, but the service does what it promises. `wrong` makes the command end with 1. */
type Verdict = 'ok' | 'note' | 'wrong'
type Finding = [verdict: Verdict, subject: string, text: string]

/** Looks at everything and changes nothing. */
export const doctor = async (commandLine: CommandLine) => {
  const findings: Finding[] = [
    ...versions(),
    ...(await isolation(commandLine)),
    ...(await service(commandLine)),
    ...(await data(commandLine)),
    ...(await room(commandLine)),
    descriptors(commandLine),
  ]
  for (const [verdict, subject, text] of findings)
    console.log(`${verdict === 'ok' ? '     ' : verdict.padEnd(5)} ${subject.padEnd(12)} ${text}`)
  const wrong = findings.filter(([verdict]) => verdict === 'wrong').length
  console.log(wrong === 0 ? '\nNothing is wrong' : `\n${countOf(wrong, 'thing is', 'things are')} wrong`)
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
    return existsSync(file) ? `${file} does not say its version` : 'not installed'
  }
}

const isolation = async ({ isolation: wanted }: CommandLine): Promise<Finding[]> => {
  const { bubblewrap, limits, network, trials } = await describeIsolation()
  const missing = `bubblewrap does not work here (${bubblewrap.problem}): devboxes would be plain processes of this user`
  return [
    bubblewrap.works
      ? ['ok', 'isolation', 'bubblewrap works: devboxes can be kept apart']
      : [wanted === 'bubblewrap' ? 'wrong' : 'note', 'isolation', missing],
    ['ok', 'limits', limits.detail],
    ['ok', 'network', network],
    ['ok', 'trials', trials],
  ]
}

const service = async ({ dataDir }: CommandLine): Promise<Finding[]> => {
  const running = runningService(dataDir)
  if (!running) return [['ok', 'service', 'not running']]
  const { pid, address } = running
  if (!address) return [['note', 'service', `starting (pid ${pid})`]]
  const problem = await fetch(`${address}/healthz`, { signal: AbortSignal.timeout(5_000) }).then(
    ({ ok, status }) => (ok ? undefined : `answers ${status}`),
    (error: Error) => `does not answer: ${error.cause instanceof Error ? error.cause.message : error.message}`,
  )
  return [[problem ? 'wrong' : 'ok', 'service', `${problem ?? 'running'} at ${address} (pid ${pid})`]]
}

const data = async ({ dataDir, keys }: CommandLine): Promise<Finding[]> => {
  if (!existsSync(dataDir)) return [['ok', 'data', `${dataDir} is not there yet; the first start makes it`]]
  const openTo = statSync(dataDir).mode & 0o077
  const findings: Finding[] = [
    [openTo ? 'wrong' : 'ok', 'data', openTo ? `${dataDir} is open to other users; it has to have mode 700` : dataDir],
  ]
  for (const [kind, bytes] of Object.entries(await sizes(dataDir)))
    findings.push(['ok', '', `${sizeText(bytes)} ${kind}`])
  const lost = lostFolders(dataDir)
    .map(countRecorded)
    .reduce((sum, each) => ({ devboxes: sum.devboxes + each.devboxes, snapshots: sum.snapshots + each.snapshots }), {
      devboxes: 0,
      snapshots: 0,
    })
  if (lost.devboxes + lost.snapshots > 0)
    findings.push([
      'note',
      'lost+found',
      `${describeCount(lost)} without a record, in ${join(dataDir, lostAndFoundName)}; run recover to list them again`,
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
      damage ?? `whole, schema ${schema}${schema < schemaVersion ? '; the next start brings it up to date' : ''}`,
    ])
    const ofOthers = keys
      ? `${keys.length} of DEVDECK_API_KEYS`
      : existsSync(join(dataDir, 'api-key'))
        ? '1 in api-key'
        : 'none yet'
    findings.push(['ok', 'keys', `${validKeys} made by keys add, ${revokedKeys} revoked, ${ofOthers}`])
  } catch (error) {
    findings.push(['wrong', 'database', (error as Error).message])
  }
  return findings
}

const kinds: Record<string, string> = {
  devboxes: 'devboxes',
  snapshots: 'snapshots',
  environments: 'environments of tasks',
  'agent-installs': 'installs of agents',
  [lostAndFoundName]: 'lost and found',
}

/** Bytes on the disk by kind, the greatest first. */
const sizes = async (dataDir: string): Promise<Record<string, number>> => {
  const bytes: Record<string, number> = {}
  for (const name of await readdir(dataDir)) {
    const kind =
      kinds[name] ?? (name.endsWith('.bak') ? 'backups' : name.startsWith(databaseName) ? 'database' : 'other')
    bytes[kind] = (bytes[kind] ?? 0) + (await bytesBelow(join(dataDir, name)))
  }
  return Object.fromEntries(Object.entries(bytes).sort(([, a], [, b]) => b - a))
}

const bytesBelow = async (path: string): Promise<number> => {
  // A file that a running devbox removes meanwhile counts nothing.
  const found = await lstat(path).catch(() => undefined)
  if (!found) return 0
  let bytes = found.blocks * 512
  if (found.isDirectory())
    for (const name of await readdir(path).catch(() => [])) bytes += await bytesBelow(join(path, name))
  return bytes
}

const room = async ({ dataDir, pressure }: CommandLine): Promise<Finding[]> => {
  const folder = nearest(dataDir)
  const floors = await floorsOf(pressure, folder)
  const finding = (subject: string, free: number, floor: number): Finding => [
    free < floor ? 'wrong' : 'ok',
    subject,
    `${sizeText(free)} free, ${floor === 0 ? 'no floor' : `devboxes are evicted below ${sizeText(floor)}`}`,
  ]
  return [finding('memory', freeMemory(), floors.memory), finding('disk', await freeDisk(folder), floors.disk)]
}

const descriptors = ({ dataDir, limits }: CommandLine): Finding => {
  const pid = runningService(dataDir)?.pid
  const max = openFilesLimit(pid)
  const needed = descriptorsFor(limits.devboxes)
  const text = `${max} (\`ulimit -n\`), ${needed} needed for --max-devboxes ${limits.devboxes}`
  return [
    max < needed ? 'note' : 'ok',
    'open files',
    max < needed ? `${text}: more devboxes are refused with 503` : text,
  ]
}

/** The folder, or what is there of the way to it. */
const nearest = (path: string): string => (existsSync(path) ? path : nearest(dirname(path)))
