import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import * as z from 'zod/mini'
import type { BenchmarkJobImport } from '#lib/contract/benchmark-jobs.ts'
import { minKeyLength } from '#lib/limits/wrong-key-limit.ts'
import { defaultLimits, defaultMaxEnvironmentBytes, defaultMaxTrials, type ServiceConfig } from '#lib/service/config.ts'
import { isAgentName, reservedAgentNames } from '#lib/service/domain/agent-names.ts'
import { defaultPressure } from '#lib/service/evictions/pressure.ts'
import type { ApiKey } from '#lib/service/http/auth.ts'
import { sizeText } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'

const serveFlags = [
  'port',
  'host',
  'data-dir',
  'allow-host',
  'keys-fd',
  'isolation',
  'allow-private-network',
  'max-devboxes',
  'max-executions',
  'max-terminals',
  'max-storage',
  'min-free-memory',
  'min-free-disk',
  'eviction-notice',
  'datasets',
  'strict-environments',
  'agent',
  'max-trials',
  'max-environments',
  'drain-seconds',
  'stop-with-parent',
  'validate-answers',
] as const

/** Every command with the flags it takes and the names of the words that must follow it. */
const commands = {
  serve: { flags: serveFlags, words: [] },
  operations: { flags: serveFlags, words: [] },
  'keys add': { flags: ['data-dir', 'account', 'name'], words: [] },
  'keys list': { flags: ['data-dir'], words: [] },
  'keys revoke': { flags: ['data-dir'], words: ['ID'] },
  drain: { flags: ['data-dir', 'deadline'], words: [] },
  import: { flags: ['data-dir', 'account', 'agent-name', 'judged-metric'], words: ['DIR or ZIP'] },
  'environments list': { flags: ['data-dir'], words: [] },
  'environments clear': { flags: ['data-dir'], words: [] },
  recover: { flags: ['data-dir', 'account'], words: [] },
  doctor: { flags: ['data-dir', 'isolation', 'max-devboxes', 'min-free-memory', 'min-free-disk'], words: [] },
  help: { flags: serveFlags, words: [] },
} as const satisfies Record<string, { flags: readonly (keyof z.output<typeof Flags>)[]; words: readonly string[] }>

export type Command = keyof typeof commands

export interface CommandLine extends ServiceConfig {
  command: Command
  /** What follows the command: the id of `keys revoke`, what `import` takes in. */
  words: readonly string[]
  /** Of a new key. */
  account: string
  name: string | undefined
  importChoices: BenchmarkJobImport
  /** From the call of `drain` to the end of its devboxes. */
  deadlineSeconds: number
  /** From the announcement of the service's own end to that end, when there are devboxes. */
  drainMs: number
  /** Ends when stdin does, so that a parent that was killed leaves no orphan. */
  stopWithParent: boolean
}

const accountPattern = /^[A-Za-z0-9_-]{1,64}$/
const accountRule = 'of 1 to 64 ASCII letters, digits, - or _'

const hostName = z.string().check(z.regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be a host name or an address'))
const authority = z
  .string()
  .check(z.regex(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/, 'must be NAME or NAME:PORT'))

const whole = (least: number, most: number) => {
  const message = `must be a number from ${least} to ${most}`
  const digits = z.string().check(z.regex(/^\d{1,9}$/, message))
  return z.pipe(
    z.pipe(digits, z.transform(Number)),
    z.number().check(z.minimum(least, message), z.maximum(most, message)),
  )
}

const splitAgent = (given: string): [string, string] => {
  const cut = given.indexOf('=')
  return [given.slice(0, cut), given.slice(cut + 1)]
}
const isNamedCommand = (given: string): boolean => {
  const [name, command] = splitAgent(given)
  return given.includes('=') && isAgentName(name) && !reservedAgentNames.includes(name) && command.trim() !== ''
}

const secondsOf = { s: 1, m: 60, h: 3600, d: 86_400 }
const maxDurationSeconds = 7 * 24 * 3600
const durationRule = 'must be a duration of at most 7d, such as 30s, 10m or 2h'
const duration = z.pipe(
  z.pipe(
    z.string().check(z.regex(/^\d{1,9}[smhd]$/, durationRule)),
    z.transform((text) => Number(text.slice(0, -1)) * secondsOf[text.slice(-1) as keyof typeof secondsOf]),
  ),
  z.number().check(z.maximum(maxDurationSeconds, durationRule)),
)

const sizeUnits = ['', 'K', 'M', 'G', 'T', 'P']
const size = z.pipe(
  z.string().check(z.regex(/^\d{1,15}(\.\d{1,3})?[KMGTP]?$/, 'must be a size such as 512M or 2G, or 0 for none')),
  z.transform((text) => {
    const unit = text.replace(/[\d.]/g, '')
    return Math.floor(Number.parseFloat(text) * 1024 ** sizeUnits.indexOf(unit))
  }),
)

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** The samples in this repository; none where they were left out of the installation. */
const ownDatasets = (): string[] => {
  const samples = resolve(import.meta.dirname, '../../../samples')
  return isFolder(samples) ? [samples] : []
}

const Flags = z.object({
  port: z._default(whole(0, 65_535), 4500),
  host: z._default(hostName, '127.0.0.1'),
  'data-dir': z._default(z.string().check(z.minLength(1, 'must not be empty')), '.devdeck/service'),
  'allow-host': z._default(z.array(authority), []),
  isolation: z._default(z.enum(['auto', 'bubblewrap', 'none'], 'must be auto, bubblewrap or none'), 'auto'),
  'allow-private-network': z._default(z.boolean(), false),
  'max-devboxes': z._default(whole(1, 1_000_000), defaultLimits.devboxes),
  'max-executions': z._default(whole(1, 1_000_000), defaultLimits.executions),
  'max-terminals': z._default(whole(1, 1_000_000), defaultLimits.terminals),
  'max-storage': z.optional(size),
  'min-free-memory': z.optional(size),
  'min-free-disk': z.optional(size),
  'eviction-notice': z._default(duration, defaultPressure.noticeMs / 1000),
  datasets: z._default(z.array(z.string().check(z.refine(isFolder, 'must be a folder'))), ownDatasets()),
  'strict-environments': z._default(z.boolean(), false),
  agent: z._default(
    z.array(z.string().check(z.refine(isNamedCommand, 'must be NAME=COMMAND; oracle, nop and command are taken'))),
    [],
  ),
  'max-trials': z._default(whole(1, 1000), defaultMaxTrials),
  'max-environments': z._default(size, defaultMaxEnvironmentBytes),
  'keys-fd': z.optional(whole(0, 1023)),
  'drain-seconds': z._default(whole(0, 3600), 2),
  'stop-with-parent': z._default(z.boolean(), false),
  'validate-answers': z._default(z.boolean(), false),
  account: z._default(z.string().check(z.regex(accountPattern, `must be a name ${accountRule}`)), 'local'),
  name: z.optional(z.string().check(z.regex(/^[^\p{C}]{1,100}$/u, 'must be 1 to 100 printable characters'))),
  'agent-name': z.optional(z.string()),
  'judged-metric': z.optional(z.string()),
  deadline: z._default(duration, 10 * 60),
})

/**
 * Reads the flags, and DEVDECK_API_KEYS as `givenKeys`. Throws a StartError that names every problem in one line and never
 * a key.
 */
export const readCommandLine = (args: readonly string[], givenKeys: string | undefined): CommandLine => {
  const { values, positionals } = parseFlags(args)
  const flags = Flags.safeParse(values)
  const fd = flags.success ? flags.data['keys-fd'] : undefined
  const keys = readKeys(fd === undefined ? givenKeys : readDescriptor(fd))
  const { command, words } = values.help ? { command: 'help' as const, words: [] } : splitCommand(positionals)
  const problems = [
    ...(flags.error?.issues ?? []).map(({ path, message }) => `--${String(path[0])} ${message}`),
    ...keys.problems.map((problem) => `${fd === undefined ? 'DEVDECK_API_KEYS' : '--keys-fd'} ${problem}`),
    ...(command ? problemsOf(command, words, Object.keys(values)) : [`unknown command ${positionals.join(' ')}`]),
  ]
  if (!flags.success || !command || problems.length > 0) throw new StartError(`${problems.join('; ')} (see --help)`)
  const { host, port, isolation, account, name } = flags.data
  const [memory, disk] = [flags.data['min-free-memory'], flags.data['min-free-disk']]
  return {
    command,
    words,
    account,
    name,
    importChoices: {
      ...(flags.data['agent-name'] && { agent_name: flags.data['agent-name'] }),
      ...(flags.data['judged-metric'] && { judged_metric: flags.data['judged-metric'] }),
    },
    deadlineSeconds: flags.data.deadline,
    host,
    port,
    dataDir: resolve(flags.data['data-dir']),
    ...(keys.keys.length > 0 ? { keys: keys.keys } : {}),
    oneAccountUnlessIsolated: true,
    allowHosts: flags.data['allow-host'],
    isolation,
    privateNetwork: flags.data['allow-private-network'],
    limits: {
      devboxes: flags.data['max-devboxes'],
      executions: flags.data['max-executions'],
      terminals: flags.data['max-terminals'],
    },
    ...(flags.data['max-storage'] !== undefined && { maxStorageBytes: flags.data['max-storage'] }),
    pressure: {
      ...(memory === undefined ? {} : { minFreeMemoryBytes: memory }),
      ...(disk === undefined ? {} : { minFreeDiskBytes: disk }),
      noticeMs: flags.data['eviction-notice'] * 1000,
    },
    datasets: flags.data.datasets.map((folder) => resolve(folder)),
    strictEnvironments: flags.data['strict-environments'],
    maxTrials: flags.data['max-trials'],
    maxEnvironmentBytes: flags.data['max-environments'],
    agents: Object.fromEntries(flags.data.agent.map(splitAgent)),
    drainMs: flags.data['drain-seconds'] * 1000,
    validateAnswers: flags.data['validate-answers'],
    stopWithParent: flags.data['stop-with-parent'],
  }
}

export const helpText = `Usage: npm run service -- [COMMAND] [OPTIONS]

Commands
  serve               run the service (the default)
  operations          list every operation of the contract, ready or 501
  keys add            make an API key and print it, this one time
  keys list           list the API keys and where they come from, never the keys themselves
  keys revoke ID      end the validity of a key at once
  drain               announce the suspension of every devbox of the service that runs on the data folder
  import DIR|ZIP      take in a job that Harbor ran elsewhere, or logs that were exported here, as a job of
                      the service that runs on the data folder
  environments list   list what was built of tasks' environments, how much it takes and when it was last used
  environments clear  remove what was built of tasks' environments, but for what trials run in now, and what
                      installs of agents left; both are made anew when a trial needs them
  recover             list devboxes and snapshots again whose records are lost, after the database was lost
                      or an older backup of it was restored; the service must be stopped
  doctor              tell what this machine allows and how the service is; exit 1 when something is wrong
  help                print this

All of them
  --data-dir DIR      where everything is kept (.devdeck/service)

serve
  --port N            port to listen on; 0 takes any free one (4500)
  --host ADDRESS      address to listen on (127.0.0.1)
  --allow-host NAME   another name the service may be called by; may be repeated
  --isolation KIND    auto, bubblewrap or none: how devboxes are kept apart from this machine (auto);
                      none, or auto where bubblewrap does not work, takes the keys of one account only
  --keys-fd N         read the keys from this open file, as 0 for standard input, instead of DEVDECK_API_KEYS
  --allow-private-network  let devboxes reach private addresses (10.0.0.0/8, 192.168.0.0/16 and the like);
                      never this machine itself
  --max-devboxes N    devboxes one account may have that have not ended (${defaultLimits.devboxes})
  --max-executions N  commands of one account that may wait or run (${defaultLimits.executions})
  --max-terminals N   terminal sessions one account may have (${defaultLimits.terminals})
  --max-storage SIZE  what one account may keep in snapshots, axons, outputs of commands and logs of runs;
                      beyond it the account is answered 507; 0 for no limit (half of the disk)
  --min-free-memory SIZE   with less free memory the devbox used longest ago is evicted; 0 never (256M, at most 5%)
  --min-free-disk SIZE     the same for the disk the data folder is on and the devbox that is filling it
  --eviction-notice TIME   from the announcement of such an eviction to its deadline (60s)
  --datasets DIR      a folder that the YAML of a benchmark job may take data sets and tasks from;
                      may be repeated (the samples that come with Devdeck)
  --strict-environments  fail a trial whose environment is not what its task asks for, as for a skipped install;
                      without it the outcome says so
  --agent NAME=COMMAND  an agent that benchmark jobs may name; may be repeated. Agents with an install step, secrets
                      or a rule for tokens stand in agents/NAME/agent.toml of the data folder
  --max-trials N      trials of all benchmark jobs that run at once (${defaultMaxTrials})
  --max-environments SIZE  what was built of tasks' environments and is kept takes at most this; what was used longest
                      ago is removed first, never what a trial runs in; 0 for no bound (${sizeText(defaultMaxEnvironmentBytes)})
  --drain-seconds N   on SIGTERM or SIGINT with devboxes running: announce their end this long before (2).
                      They run again after the next start. A second signal ends the wait.
  --stop-with-parent  end when standard input does
  --validate-answers  check every answer against the contract before it leaves

keys add
  --account NAME      whose key it is (local)
  --name TEXT         what it is for, shown by keys list

import
  --account NAME      whose job it becomes (local)
  --agent-name NAME   agent of trials whose files do not name one (unknown agent)
  --judged-metric KEY  reward key to take scores from (reward, or else the first key)

recover
  --account NAME      the account of what has no record of its own (local)

drain
  --deadline TIME     when the devboxes are suspended, from now (10m)

Sizes are bytes or end in K, M, G, T or P; times end in s, m, h or d.

Environment
  DEVDECK_API_KEYS    account:key,account:key with keys of ${minKeyLength} characters or more; unset: one key, made
                      once and kept in DIR/api-key. Keys made by keys add work as well.`

const parseFlags = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(Object.keys(Flags.shape).map((name) => [name, { type: 'string' as const }])),
        'allow-host': { type: 'string', multiple: true },
        datasets: { type: 'string', multiple: true },
        agent: { type: 'string', multiple: true },
        'allow-private-network': { type: 'boolean' },
        'stop-with-parent': { type: 'boolean' },
        'strict-environments': { type: 'boolean' },
        'validate-answers': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}

const isCommand = (text: string): text is Command => Object.hasOwn(commands, text)

const splitCommand = (positionals: readonly string[]): { command?: Command; words: readonly string[] } => {
  if (positionals.length === 0) return { command: 'serve', words: [] }
  for (const length of [2, 1]) {
    const text = positionals.slice(0, length).join(' ')
    if (isCommand(text)) return { command: text, words: positionals.slice(length) }
  }
  return { words: [] }
}

const problemsOf = (command: Command, words: readonly string[], given: readonly string[]): string[] => {
  const takes: { flags: readonly string[]; words: readonly string[] } = commands[command]
  const surplus = words.slice(takes.words.length)
  return [
    ...given
      .filter((flag) => flag !== 'help' && !takes.flags.includes(flag))
      .map((flag) => `${command} takes no --${flag}`),
    ...takes.words.slice(words.length).map((word) => `${command} needs ${word}`),
    ...(surplus.length > 0 ? [`${command} does not take ${surplus.join(' ')}`] : []),
  ]
}

const readDescriptor = (fd: number): string => {
  try {
    return readFileSync(fd, 'utf8')
      .trim()
      .replaceAll(/\s*\n\s*/g, ',')
  } catch (error) {
    throw new StartError(`--keys-fd ${fd} cannot be read: ${(error as Error).message}`)
  }
}

/** `account:key,account:key`; several keys of one account let it change keys without a gap. */
const readKeys = (text: string | undefined): { keys: ApiKey[]; problems: string[] } => {
  const keys: ApiKey[] = []
  const problems: string[] = []
  if (text === undefined || text.trim() === '') return { keys, problems }
  for (const [i, entry] of text.split(',').entries()) {
    const cut = entry.indexOf(':')
    const account = entry.slice(0, cut).trim()
    const key = entry.slice(cut + 1).trim()
    if (cut === -1) problems.push(`entry ${i + 1} is not account:key`)
    else if (!accountPattern.test(account)) problems.push(`entry ${i + 1} needs an account ${accountRule}`)
    else if (!/^[\x21-\x7e]*$/.test(key) || key.length < minKeyLength || key.length > 256)
      problems.push(`entry ${i + 1} needs a key of ${minKeyLength} to 256 visible ASCII characters`)
    else if (keys.some((each) => each.key === key)) problems.push(`entry ${i + 1} repeats a key`)
    else keys.push({ account, key })
  }
  return { keys, problems }
}
