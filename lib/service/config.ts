import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import * as z from 'zod/mini'
import { StartError } from './data-dir.ts'
import type { ApiKey } from './http/auth.ts'

export interface ServiceConfig {
  host: string
  /** 0 takes any free port. */
  port: number
  dataDir: string
  /** Absent: one key for the account `local`, kept in the data folder. */
  keys?: readonly ApiKey[]
  /** Names besides the loopback ones under which the service may be called. */
  allowHosts: readonly string[]
  /** How devboxes are kept apart from this machine; `auto` takes bubblewrap where it works. */
  isolation: 'auto' | 'bubblewrap' | 'none'
  limits: AccountLimits
  /** Checks every answer against the contract before it leaves: for tests and development. */
  validateAnswers: boolean
}

/** How many of each one account may have at once. */
export interface AccountLimits {
  /** Devboxes that have not ended. */
  devboxes: number
  /** Commands that wait or run. */
  executions: number
  /** Terminal sessions. */
  terminals: number
}

/** Unspecified: the caps. Far above what one machine's users start by hand, and below what a machine can hold. */
export const defaultLimits: AccountLimits = { devboxes: 256, executions: 1024, terminals: 256 }

export interface CommandLine extends ServiceConfig {
  command: 'serve' | 'operations' | 'help'
  /** Ends when stdin does, so that a parent that was killed leaves no orphan. */
  stopWithParent: boolean
}

const hostName = z.string().check(z.regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be a host name or an address'))
const authority = z
  .string()
  .check(z.regex(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/, 'must be NAME or NAME:PORT'))

const Flags = z.object({
  port: z.pipe(
    z.pipe(
      z._default(z.string().check(z.regex(/^\d{1,5}$/, 'must be a number from 0 to 65535')), '4500'),
      z.transform(Number),
    ),
    z.number().check(z.maximum(65_535, 'must be a number from 0 to 65535')),
  ),
  host: z._default(hostName, '127.0.0.1'),
  'data-dir': z._default(z.string().check(z.minLength(1, 'must not be empty')), '.devdeck/service'),
  'allow-host': z._default(z.array(authority), []),
  isolation: z._default(z.enum(['auto', 'bubblewrap', 'none'], 'must be auto, bubblewrap or none'), 'auto'),
  'stop-with-parent': z._default(z.boolean(), false),
  'validate-answers': z._default(z.boolean(), false),
})

/** Reads flags and environment. Throws a StartError that names every problem in one line and never a key. */
export const readCommandLine = (args: readonly string[], environment: NodeJS.ProcessEnv = process.env): CommandLine => {
  const { values, positionals } = parseFlags(args)
  const flags = Flags.safeParse(values)
  const keys = readKeys(environment.DEVDECK_API_KEYS)
  const [command = values.help ? 'help' : 'serve', ...more] = positionals
  const problems = [
    ...(flags.error?.issues ?? []).map(({ path, message }) => `--${String(path[0])} ${message}`),
    ...keys.problems.map((problem) => `DEVDECK_API_KEYS ${problem}`),
    ...(more.length > 0 || !isCommand(command) ? [`unknown command ${positionals.join(' ')}`] : []),
  ]
  if (!flags.success || !isCommand(command) || problems.length > 0) throw new StartError(problems.join('; '))
  const { host, port, isolation } = flags.data
  return {
    command,
    host,
    port,
    dataDir: resolve(flags.data['data-dir']),
    ...(keys.keys.length > 0 ? { keys: keys.keys } : {}),
    allowHosts: flags.data['allow-host'],
    isolation,
    limits: defaultLimits,
    validateAnswers: flags.data['validate-answers'],
    stopWithParent: flags.data['stop-with-parent'],
  }
}

const isCommand = (text: string): text is CommandLine['command'] => ['serve', 'operations', 'help'].includes(text)

export const helpText = `Usage: npm run service -- [COMMAND] [OPTIONS]

Commands
  serve             run the service (the default)
  operations        list every operation of the contract, ready or 501
  help              print this

Options
  --port N          port to listen on; 0 takes any free one (4500)
  --host ADDRESS    address to listen on (127.0.0.1)
  --data-dir DIR    where everything is kept (.devdeck/service)
  --allow-host NAME another name the service may be called by; may be repeated
  --isolation KIND  auto, bubblewrap or none: how devboxes are kept apart from this machine (auto)
  --validate-answers   check every answer against the contract before it leaves
  --stop-with-parent   end when standard input does

Environment
  DEVDECK_API_KEYS  account:key,account:key; unset: one key, made once and kept in DIR/api-key`

const parseFlags = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        'data-dir': { type: 'string' },
        'allow-host': { type: 'string', multiple: true },
        isolation: { type: 'string' },
        'stop-with-parent': { type: 'boolean' },
        'validate-answers': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new StartError((error as Error).message)
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
    else if (!/^[A-Za-z0-9_-]{1,64}$/.test(account))
      problems.push(`entry ${i + 1} needs an account of 1 to 64 ASCII letters, digits, - or _`)
    else if (!/^[\x21-\x7e]{1,256}$/.test(key))
      problems.push(`entry ${i + 1} needs a key of 1 to 256 visible ASCII characters`)
    else if (keys.some((each) => each.key === key)) problems.push(`entry ${i + 1} repeats a key`)
    else keys.push({ account, key })
  }
  return { keys, problems }
}
