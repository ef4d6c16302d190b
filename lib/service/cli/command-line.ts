import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import * as z from 'zod/mini'
import type { BenchmarkJobImport } from '#lib/contract/benchmark-jobs.ts'
import { minKeyLength } from '#lib/limits/wrong-key-limit.ts'
import {
  defaultImage,
  defaultLimits,
  defaultMaxEnvironmentBytes,
  defaultMaxTrials,
  defaultReservedCpuPercent,
  defaultReservedMemoryPercent,
  type ServiceConfig,
} from '#lib/service/config.ts'
import { isAgentName, reservedAgentNames } from '#lib/service/domain/agent-names.ts'
import { placementPattern } from '#lib/service/domain/placement.ts'
import { defaultPressure } from '#lib/service/evictions/pressure.ts'
import type { ApiKey } from '#lib/service/http/auth.ts'
import { sizeText } from '#lib/service/kit/amounts.ts'
import { StartError } from '#lib/service/kit/errors.ts'
import { defaultKeepEndedSeconds } from '#lib/service/retention/retention.ts'
import type { Watch } from './import-watch.ts'

export interface CommandLine extends ServiceConfig {
  command: Command
  words: readonly string[]
  account: string
  name: string | undefined
  importChoices: BenchmarkJobImport
  watch: Watch | undefined
  deadlineSeconds: number
  /** How long running work may take before the service stops. */
  stopWithinSeconds: number | undefined
  cancelStop: boolean
  prune: { olderThanSeconds?: number | undefined; dryRun: boolean }
  audit: { sinceMs: number; follow: boolean }
  drainMs: number
  gate: {
    console: string
    jobs?: string
    query: Record<string, string>
    junit?: string
    markdown?: string
    waitMinutes: number
  }
  /** Exits when stdin closes, so a killed parent leaves no orphan. */
  stopWithParent: boolean
}

const accountPattern = /^[A-Za-z0-9_-]{1,64}$/
const accountRule = '1 to 64 ASCII letters, digits, - or _'

const text = (pattern: RegExp, message: string) => z.string().check(z.regex(pattern, message))
const hostName = text(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be a host name or address')
const authority = text(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/, 'must be NAME or NAME:PORT')

const integer = (min: number, max: number) => {
  const message = `must be a number from ${min} to ${max}`
  return z.pipe(
    z.pipe(text(/^\d{1,9}$/, message), z.transform(Number)),
    z.number().check(z.minimum(min, message), z.maximum(max, message)),
  )
}

const splitAgent = (given: string): [string, string] => {
  const cut = given.indexOf('=')
  return [given.slice(0, cut), given.slice(cut + 1)]
}
const isAgentDefinition = (given: string): boolean => {
  const [name, command] = splitAgent(given)
  return given.includes('=') && isAgentName(name) && !reservedAgentNames.includes(name) && command.trim() !== ''
}

const agentRule = 'must be NAME=COMMAND; oracle, nop and command are reserved'
const agent = z.string().check(z.refine(isAgentDefinition, agentRule))

const secondsOf = { s: 1, m: 60, h: 3600, d: 86_400 }
const maxDurationSeconds = 7 * 24 * 3600
const durationRule = 'must be a duration of at most 7d, such as 30s, 10m or 2h'
const duration = z.pipe(
  z.pipe(
    text(/^\d{1,9}[smhd]$/, durationRule),
    z.transform((text) => Number(text.slice(0, -1)) * secondsOf[text.slice(-1) as keyof typeof secondsOf]),
  ),
  z.number().check(z.maximum(maxDurationSeconds, durationRule)),
)

const ageRule = 'must be 0 or a time such as 12h or 30d'
const age = z.pipe(
  text(/^(0|\d{1,6}[smhd])$/, ageRule),
  z.transform((text) =>
    text === '0' ? 0 : Number(text.slice(0, -1)) * secondsOf[text.slice(-1) as keyof typeof secondsOf],
  ),
)

const sinceRule = 'must be a time such as 12h or 30d, or a date such as 2026-11-27T09:00Z'
const since = z.pipe(
  z.string().check(z.refine((text) => age.safeParse(text).success || /^\d{4}-/.test(text), sinceRule)),
  z.pipe(
    z.transform((text: string) => {
      const seconds = age.safeParse(text).data
      return seconds === undefined ? Date.parse(text) : Date.now() - seconds * 1000
    }),
    z.number(sinceRule),
  ),
)

const sizeUnits = ['', 'K', 'M', 'G', 'T', 'P']
const size = z.pipe(
  text(/^\d{1,15}(\.\d{1,3})?[KMGTP]?$/, 'must be a size such as 512M or 2G, or 0 for none'),
  z.transform((text) => {
    const unit = text.replace(/[\d.]/g, '')
    return Math.floor(Number.parseFloat(text) * 1024 ** sizeUnits.indexOf(unit))
  }),
)

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const ownDatasets = (): string[] => {
  const samples = resolve(import.meta.dirname, '../../../samples')
  return isFolder(samples) ? [samples] : []
}

const percent = integer(0, 100)
const gateRules = ['no_regression', 'superior', 'non_inferior'] as const

const Flags = z.object({
  port: z._default(integer(0, 65_535), 4500),
  host: z._default(hostName, '127.0.0.1'),
  'data-dir': z.string().check(z.minLength(1, 'must not be empty')),
  'allow-host': z._default(z.array(authority), []),
  isolation: z._default(
    z.enum(['auto', 'bubblewrap', 'container', 'none'], 'must be auto, bubblewrap, container or none'),
    'auto',
  ),
  'allow-private-network': z._default(z.boolean(), false),
  'max-devboxes': z._default(integer(1, 1_000_000), defaultLimits.devboxes),
  'max-executions': z._default(integer(1, 1_000_000), defaultLimits.executions),
  'max-terminals': z._default(integer(1, 1_000_000), defaultLimits.terminals),
  'max-storage': z.optional(size),
  'min-free-memory': z.optional(size),
  'min-free-disk': z.optional(size),
  'keep-ended': z._default(age, defaultKeepEndedSeconds),
  'older-than': z.optional(age),
  'dry-run': z._default(z.boolean(), false),
  since: z.optional(since),
  follow: z._default(z.boolean(), false),
  'eviction-notice': z._default(duration, defaultPressure.noticeMs / 1000),
  datasets: z._default(z.array(z.string().check(z.refine(isFolder, 'must be a folder'))), ownDatasets()),
  'strict-environments': z._default(z.boolean(), false),
  agent: z._default(z.array(agent), []),
  'max-trials': z.optional(integer(1, 1000)),
  'max-environments': z._default(size, defaultMaxEnvironmentBytes),
  engine: z.optional(text(/^(none|swarm|[a-z]+:\/\/\S+)$/, 'must be a URL, swarm or none')),
  'engine-url': z.optional(text(/^[a-z]+:\/\/\S+$/, 'must be a URL')),
  'engine-node-url': z.optional(text(/^[a-z]+:\/\/\S+$/, 'must be a URL')),
  'engine-registry': z.optional(text(/^[\w.:[\]-]+(\/[\w./-]+)?$/, 'must be HOST[:PORT][/PREFIX]')),
  placement: z._default(z.array(text(placementPattern, 'must be like node.labels.pool==agents')), []),
  'reserve-cpu': z._default(percent, defaultReservedCpuPercent),
  'reserve-memory': z._default(percent, defaultReservedMemoryPercent),
  image: z._default(text(/^[\w./:@-]{1,255}$/, 'must be the name of an image'), defaultImage),
  'keys-fd': z.optional(integer(0, 1023)),
  'drain-seconds': z._default(integer(0, 3600), 2),
  'stop-with-parent': z._default(z.boolean(), false),
  'validate-answers': z._default(z.boolean(), false),
  'metrics-port': z.optional(integer(0, 65_535)),
  'metrics-host': z._default(hostName, '127.0.0.1'),
  'log-requests': z._default(z.boolean(), false),
  account: z._default(text(accountPattern, `must be ${accountRule}`), 'local'),
  name: z.optional(text(/^[^\p{C}]{1,100}$/u, 'must be 1 to 100 printable characters')),
  'agent-name': z.optional(z.string()),
  'model-name': z.optional(z.string()),
  'judged-metric': z.optional(z.string()),
  watch: z._default(z.boolean(), false),
  every: z._default(duration, 30),
  once: z._default(z.boolean(), false),
  deadline: z._default(duration, 10 * 60),
  in: z.optional(duration),
  for: z.optional(duration),
  cancel: z._default(z.boolean(), false),
  console: z._default(
    text(/^https?:\/\/[^\s/?#@]+\/?$/, 'must be a URL such as http://localhost:3000'),
    'http://localhost:3000',
  ),
  baseline: z.optional(z.string()),
  jobs: z.optional(z.string()),
  rule: z.optional(z.enum(gateRules, `must be one of ${gateRules.join(', ')}`)),
  margin: z.optional(z.string()),
  failures: z.optional(z.string()),
  metric: z.optional(z.string()),
  direction: z.optional(z.string()),
  exclusions: z.optional(z.string()),
  threshold: z.optional(z.string()),
  junit: z.optional(z.string()),
  markdown: z.optional(z.string()),
  wait: z._default(integer(0, 10_000), 0),
})

/** Sent to the console as they are, which validates them. */
const reportChoices = ['baseline', 'margin', 'failures', 'metric', 'direction', 'threshold', 'exclusions'] as const
const gateFlags = [...reportChoices, 'console', 'jobs', 'rule', 'junit', 'markdown', 'wait']

const repeatable = ['allow-host', 'datasets', 'agent', 'placement']
const switches = [
  'follow',
  'log-requests',
  'dry-run',
  'allow-private-network',
  'watch',
  'once',
  'stop-with-parent',
  'strict-environments',
  'validate-answers',
  'cancel',
]
const flagsOfOthers = [
  'since',
  'follow',
  'older-than',
  'dry-run',
  'account',
  'name',
  'agent-name',
  'model-name',
  'judged-metric',
  'watch',
  'every',
  'once',
  'deadline',
  'in',
  'for',
  'cancel',
]
const serveFlags = Object.keys(Flags.shape).filter((name) => !flagsOfOthers.includes(name))

interface Takes {
  flags: readonly string[]
  words: readonly string[]
  optionalWords?: readonly string[]
}

const commands = {
  serve: { flags: serveFlags, words: [] },
  operations: { flags: serveFlags, words: [] },
  'keys add': { flags: ['data-dir', 'account', 'name'], words: [] },
  'keys list': { flags: ['data-dir'], words: [] },
  'keys revoke': { flags: ['data-dir'], words: ['ID'] },
  drain: { flags: ['data-dir', 'deadline', 'in', 'for', 'cancel'], words: [], optionalWords: ['NODE'] },
  activate: { flags: ['data-dir'], words: ['NODE'] },
  import: {
    flags: ['data-dir', 'account', 'agent-name', 'model-name', 'judged-metric', 'watch', 'every', 'once'],
    words: ['DIR or ZIP'],
  },
  gate: { flags: ['data-dir', ...gateFlags], words: [] },
  prune: { flags: ['data-dir', 'older-than', 'dry-run'], words: [] },
  audit: { flags: ['data-dir', 'since', 'follow'], words: [] },
  'environments list': { flags: ['data-dir'], words: [] },
  'environments clear': { flags: ['data-dir'], words: [] },
  recover: { flags: ['data-dir', 'account'], words: [] },
  backup: { flags: ['data-dir'], words: ['FILE'] },
  restore: { flags: ['data-dir'], words: ['FILE'] },
  doctor: {
    flags: [
      'data-dir',
      'isolation',
      'engine',
      'engine-url',
      'engine-node-url',
      'max-devboxes',
      'min-free-memory',
      'min-free-disk',
    ],
    words: [],
  },
  help: { flags: serveFlags, words: [] },
} satisfies Record<string, Takes>

export type Command = keyof typeof commands

/** Parses flags and keys. Throws a StartError that lists every problem on one line, without any key. */
export const readCommandLine = (
  args: readonly string[],
  keysVariable: string | undefined,
  {
    engineVariables = {},
    consoleDataDir,
  }: { engineVariables?: ServiceConfig['engineVariables']; consoleDataDir?: string | undefined } = {},
): CommandLine => {
  const { values, positionals } = parseFlags(args)
  const flags = Flags.safeParse({ 'data-dir': join(consoleDataDir || '.devdeck', 'service'), ...values })
  const fd = flags.success ? flags.data['keys-fd'] : undefined
  const keys = readKeys(fd === undefined ? keysVariable : readDescriptor(fd))
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
      ...(flags.data['model-name'] && { model_name: flags.data['model-name'] }),
      ...(flags.data['judged-metric'] && { judged_metric: flags.data['judged-metric'] }),
    },
    watch: flags.data.watch ? { everySeconds: flags.data.every, once: flags.data.once } : undefined,
    stopWithinSeconds: flags.data.for,
    cancelStop: flags.data.cancel,
    deadlineSeconds: flags.data.in ?? flags.data.deadline,
    prune: { olderThanSeconds: flags.data['older-than'], dryRun: flags.data['dry-run'] },
    audit: { sinceMs: flags.data.since ?? Number.NEGATIVE_INFINITY, follow: flags.data.follow },
    keepEndedSeconds: flags.data['keep-ended'],
    host,
    port,
    dataDir: resolve(flags.data['data-dir']),
    ...(keys.keys.length > 0 ? { keys: keys.keys } : {}),
    oneAccountUnlessIsolated: true,
    allowHosts: flags.data['allow-host'],
    isolation,
    ...(flags.data.engine !== undefined && { engine: flags.data.engine }),
    ...(flags.data['engine-url'] !== undefined && {
      swarm: {
        url: flags.data['engine-url'],
        nodeUrl: flags.data['engine-node-url'],
        registry: flags.data['engine-registry'],
        placement: flags.data.placement,
        reserved: { cpu: flags.data['reserve-cpu'] / 100, memory: flags.data['reserve-memory'] / 100 },
      },
    }),
    image: flags.data.image,
    engineVariables,
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
    ...(flags.data['max-trials'] !== undefined && { maxTrials: flags.data['max-trials'] }),
    maxEnvironmentBytes: flags.data['max-environments'],
    agents: Object.fromEntries(flags.data.agent.map(splitAgent)),
    drainMs: flags.data['drain-seconds'] * 1000,
    gate: gateOf(flags.data),
    validateResponses: flags.data['validate-answers'],
    ...(flags.data['metrics-port'] !== undefined && {
      metrics: { host: flags.data['metrics-host'], port: flags.data['metrics-port'] },
    }),
    logRequests: flags.data['log-requests'],
    stopWithParent: flags.data['stop-with-parent'],
  }
}

const gateOf = (flags: z.output<typeof Flags>): CommandLine['gate'] => ({
  console: flags.console,
  ...(flags.jobs !== undefined && { jobs: flags.jobs }),
  query: Object.fromEntries(
    [['gate', flags.rule] as const, ...reportChoices.map((name) => [name, flags[name]] as const)].flatMap(
      ([name, value]) => (value === undefined ? [] : [[name, value]]),
    ),
  ),
  ...(flags.junit !== undefined && { junit: flags.junit }),
  ...(flags.markdown !== undefined && { markdown: flags.markdown }),
  waitMinutes: flags.wait,
})

export const helpText = `Usage: npm run service -- [COMMAND] [OPTIONS]

Commands
  serve               Run the service (default)
  operations          List all API operations and whether this service implements them
  keys add            Create an API key and print it once
  keys list           List API keys and their sources, without the keys themselves
  keys revoke ID      Revoke a key immediately
  drain [NODE]        Schedule the suspension of all devboxes of the running service, or of those on a cluster node,
                      which gets no new devboxes and is then drained. With --for, stop the service once all
                      work has finished
  activate NODE       Cancel the drain of a node, or let a drained node accept devboxes again
  import DIR|ZIP      Import results of Harbor or Terminal-Bench, or logs exported from Devdeck, into the running
                      service: a single job, or a folder of jobs
  gate                Compare jobs with a baseline through a running console. Exits with 0 if they pass, 1 if they
                      don't, 2 if undecided
  prune               Delete the output, logs and records of devboxes, commands, jobs and runs that ended some time ago
  audit               Print the changes made through the API in the last 90 days, as JSON lines
  environments list   List built task environments with size and last use
  environments clear  Delete built task environments and agent installs that are not in use; they are rebuilt on demand
  backup FILE         Write all data of the service, and of the console that runs it, to a tar file; both may be running
  restore FILE        Create the data folder, and that of the console, from a backup
  recover             Restore devboxes, snapshots and objects whose database records are lost. Stop the service first
  doctor              Check the host and the service; exits with 1 if there is a problem
  help                Show this help

All commands
  --data-dir DIR      Data folder (.devdeck/service, or service in DEVDECK_DATA_DIR)

serve
  --port N            Port; 0 picks a free one (4500)
  --host ADDRESS      Address to listen on (127.0.0.1)
  --allow-host NAME   Additional host name that clients may use; repeatable
  --isolation KIND    Devbox isolation: auto, bubblewrap, container or none (auto). auto runs devboxes with an image
                      in containers and others with bubblewrap. Without isolation, only one account can have keys
  --engine URL        Container engine: unix:///PATH, tcp://HOST:PORT, ssh://USER@HOST, swarm or none. Default:
                      DOCKER_HOST, or /var/run/docker.sock if it exists
  --engine-url URL    With --engine swarm: API of a manager
  --engine-node-url URL  API of a node, with {address} or {hostname} in it (--engine-url with the node's address)
  --engine-registry HOST[:PORT][/PREFIX]  Registry that keeps disks and images for all nodes. Without it, a suspended
                      devbox stays with its node
  --reserve-cpu N     Percentage of its CPU limit that a devbox reserves on its node; the swarm places devboxes by what
                      is unreserved (${defaultReservedCpuPercent})
  --reserve-memory N  The same for memory (${defaultReservedMemoryPercent})
  --placement CONSTRAINT  Where devboxes run, such as node.labels.pool==agents; repeatable
  --image NAME        Image of container devboxes that don't choose one (${defaultImage})
  --keys-fd N         Read API keys from this file descriptor (0 is stdin) instead of DEVDECK_API_KEYS
  --allow-private-network  Allow devboxes to reach private addresses such as 10.0.0.0/8, but never this host
  --max-devboxes N    Active devboxes per account (${defaultLimits.devboxes})
  --max-executions N  Queued and running commands per account (${defaultLimits.executions})
  --max-terminals N   Terminal sessions per account (${defaultLimits.terminals})
  --max-storage SIZE  Storage per account for snapshots, objects, axons, command output and run logs; 0 for no limit
                      (half of the disk). Requests over the limit fail with 507
  --keep-ended TIME   How long the output, logs and records of devboxes, commands, jobs and runs are kept after they have
                      ended; 0 keeps them forever (30d). On low disk space, they are deleted before a devbox is evicted
  --min-free-memory SIZE   Evict the least recently used devbox below this much free memory; 0 turns it off
                      (256M, at most 5%)
  --min-free-disk SIZE     Evict the devbox that is filling the data folder's disk; 0 turns it off (same default)
  --eviction-notice TIME   Time between such an eviction's announcement and its deadline (60s)
  --datasets DIR      Folder from which benchmark jobs may load datasets and tasks; repeatable (the samples)
  --strict-environments  Fail trials whose environment differs from their task's, for example after a failed
                      install. By default the outcome is marked
  --agent NAME=COMMAND  Agent that benchmark jobs can use by name; repeatable. Agents with an install step, secrets
                      or token reporting are configured in DIR/agents/NAME/agent.toml
  --max-trials N      Maximum number of concurrent trials across all benchmark jobs (${defaultMaxTrials}; in a swarm,
                      as many as its nodes have room for)
  --max-environments SIZE  Disk space for built task environments; 0 for no limit (${sizeText(defaultMaxEnvironmentBytes)}).
                      The least recently used are deleted first
  --drain-seconds N   Notice for running devboxes on SIGTERM or SIGINT (2). They start again with the
                      service. A second signal skips the wait
  --stop-with-parent  Exit when stdin closes
  --metrics-port N    Serve /metrics for Prometheus, /healthz and /readyz on this port
  --metrics-host ADDRESS  Address of that port (127.0.0.1)
  --log-requests      Log each request: id, operation, account, status and duration
  --validate-answers  Validate all responses against the contract

keys add
  --account NAME      Account (local)
  --name TEXT         Description for keys list

import
  --account NAME      Account (local)
  --agent-name NAME   Agent name for trials that don't record one (unknown agent)
  --model-name NAME   Model name for trials that don't record one
  --judged-metric KEY  Reward key to use as the score (reward, or the first key)
  --watch             Keep running, and import each job below DIR when it has ended: its result has an end time, or nothing
                      changed for 10 minutes. A job that continues is imported again
  --every TIME        Interval between scans of the folder (30s)
  --once              Scan once, then exit

gate
  --console URL       The console (http://localhost:3000)
  --jobs ID[,ID]      Jobs to evaluate
  --baseline ID       Job or run to compare with (the first of --jobs)
  --rule RULE         no_regression, superior or non_inferior
  --margin X          With non_inferior: how much worse the mean may be
  --failures RULE     zero or leave_out, as in reports; also --metric, --direction, --threshold and --exclusions
  --junit FILE        Write the result as JUnit XML
  --markdown FILE     Write the report as Markdown
  --wait MINUTES      Wait for running jobs (0)

prune
  --older-than TIME   Delete data that ended longer ago (--keep-ended of the running service)
  --dry-run           Only report what would be deleted

audit
  --since TIME        Only changes of the last 12h or 30d, or since a date such as 2026-11-27T09:00Z
  --follow            Keep running, and print changes as they are made

recover
  --account NAME      Account for devboxes and snapshots without a record (local)

drain
  --in TIME           Time until the devboxes are suspended (10m); also --deadline
  --for TIME          Reject new devboxes, commands, jobs, snapshots and builds, wait at most this long for running
                      ones and for shells in use, then stop the service and the console that runs it
  --cancel            Cancel a stop planned with --for, and accept work again

Sizes are in bytes or end in K, M, G, T or P. Times end in s, m, h or d.

Environment
  DEVDECK_API_KEY     Key that gate sends to the console (DIR/api-key for a console on this host)
  DEVDECK_API_KEYS    account:key,account:key; keys need at least ${minKeyLength} characters. If unset, a key is created
                      in DIR/api-key. Keys created with keys add are valid as well`

const parseFlags = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(
          Object.keys(Flags.shape).map((name) => [
            name,
            { type: switches.includes(name) ? 'boolean' : 'string', multiple: repeatable.includes(name) } as const,
          ]),
        ),
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}

const isTimeFlag = (flag: string) => ['for', 'in', 'deadline'].includes(flag)

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
  const takes: Takes = commands[command]
  const extra = words.slice(takes.words.length + (takes.optionalWords ?? []).length)
  return [
    ...(command === 'drain' &&
    given.includes('for') &&
    (words.length > 0 || given.includes('in') || given.includes('deadline'))
      ? ["drain --for stops the whole service; it can't be combined with a node or --in"]
      : []),
    ...(command === 'drain' && given.includes('cancel') && (words.length > 0 || given.some((flag) => isTimeFlag(flag)))
      ? ["drain --cancel can't be combined with a node or a time"]
      : []),
    ...given
      .filter((flag) => flag !== 'help' && !takes.flags.includes(flag))
      .map((flag) => `${command} doesn't accept --${flag}`),
    ...takes.words.slice(words.length).map((word) => `${command} requires ${word}`),
    ...(extra.length > 0 ? [`${command}: unexpected ${extra.join(' ')}`] : []),
  ]
}

const readDescriptor = (fd: number): string => {
  try {
    return readFileSync(fd, 'utf8')
      .trim()
      .replaceAll(/\s*\n\s*/g, ',')
  } catch (error) {
    throw new StartError(`--keys-fd ${fd} can't be read: ${(error as Error).message}`)
  }
}

/** `account:key,account:key`. An account may have several keys, so keys can be rotated. */
const readKeys = (text: string | undefined): { keys: ApiKey[]; problems: string[] } => {
  const keys: ApiKey[] = []
  const problems: string[] = []
  if (text === undefined || text.trim() === '') return { keys, problems }
  for (const [i, entry] of text.split(',').entries()) {
    const cut = entry.indexOf(':')
    const account = entry.slice(0, cut).trim()
    const key = entry.slice(cut + 1).trim()
    if (cut === -1) problems.push(`entry ${i + 1} is not account:key`)
    else if (!accountPattern.test(account)) problems.push(`entry ${i + 1}: the account must be ${accountRule}`)
    else if (!/^[\x21-\x7e]*$/.test(key) || key.length < minKeyLength || key.length > 256)
      problems.push(`entry ${i + 1}: the key must be ${minKeyLength} to 256 visible ASCII characters`)
    else if (keys.some((each) => each.key === key)) problems.push(`entry ${i + 1} repeats a key`)
    else keys.push({ account, key })
  }
  return { keys, problems }
}
