import * as z from 'zod/mini'
import { openEnum, queryInt } from './common.ts'
import { defineEndpoints, get, json, post, webSocket } from './endpoint.ts'
export const sessionNamePattern = /^[A-Za-z0-9_-]{1,256}$/
export const maxCells = 1000

export const defaultSize = { cols: 80, rows: 24 } as const
/** WebSocket close code for a shell that exited, as in the public clients. */
export const shellEndedCode = 4000

const cellsMessage = `must be a whole number from 1 to ${maxCells}`
const cell = z.int(cellsMessage).check(z.minimum(1, cellsMessage), z.maximum(maxCells, cellsMessage))
const cellText = z.optional(
  z
    .union([z.string(), z.number()])
    .check(z.describe(`A whole number from 1 to ${maxCells}. Ignored unless both cols and rows are given.`)),
)
const toCells = (value: string | number | undefined) =>
  typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value

interface SizeText {
  cols?: string | number | undefined
  rows?: string | number | undefined
}

const checkSize = z.check<SizeText>(({ value, issues }) => {
  if (value.cols === undefined || value.rows === undefined) return
  for (const name of ['cols', 'rows'] as const)
    if (!cell.safeParse(toCells(value[name])).success)
      issues.push({ code: 'custom', input: value[name], path: [name], message: cellsMessage })
})

const sizeOf = ({ cols, rows }: SizeText): { size?: { cols: number; rows: number } } =>
  cols === undefined || rows === undefined ? {} : { size: { cols: Number(cols), rows: Number(rows) } }

const Size = z.object({ cols: cellText, rows: cellText })
export const SizeQuery = z.pipe(Size.check(checkSize), z.transform(sizeOf))

// Unspecified: `after` lets a client reconnect without losing or repeating a byte.
const after = z.describe('Number of output bytes already received; only later ones are sent')
const AttachQuery = z.pipe(
  z.extend(Size, { after: z.optional(queryInt(0, Number.MAX_SAFE_INTEGER).check(after)) }).check(checkSize),
  z.transform(({ after, ...size }): { after?: number; size?: { cols: number; rows: number } } => ({
    ...sizeOf(size),
    ...(after !== undefined && { after }),
  })),
)

/** Handshake response header: offset of the first byte that is sent, in the shell that `x-shell-id` identifies. */
export const outputOffsetHeader = 'x-output-offset'
export const shellIdHeader = 'x-shell-id'
/** Unspecified: handshake response header with the number of input bytes the shell has received from all clients. */
export const inputOffsetHeader = 'x-input-offset'

const BySession = z.object({
  session_name: z.string().check(z.regex(sessionNamePattern, 'must be 1 to 256 ASCII letters, digits, - or _')),
})

export const PtySession = z.object({
  created: z.boolean(),
  attached: z.boolean(),
  session_name: z.optional(z.string()),
  status: z.optional(openEnum(['ready', 'closed'])),
  protocol_version: z.optional(z.string()),
  connect_url: z.optional(z.string()),
  cols: z.optional(z.int()),
  rows: z.optional(z.int()),
  idle_ttl_seconds: z.optional(z.int()),
})
export type PtySession = z.infer<typeof PtySession>

export const terminalSignals = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGTERM',
  'SIGKILL',
  'SIGUSR1',
  'SIGUSR2',
  'SIGTSTP',
  'SIGCONT',
  'SIGWINCH',
] as const

export const PtyControl = z.discriminatedUnion('action', [
  z.object({ action: z.literal('resize'), cols: cell, rows: cell }),
  z.object({ action: z.literal('signal'), signal: z.enum(terminalSignals) }),
  z.object({ action: z.literal('close') }),
])
export type PtyControl = z.infer<typeof PtyControl>

/** Authenticate with the API key, or with the token of `devboxes.createPtyTunnel`, which is for one devbox. */
export const terminals = defineEndpoints('terminals', 'stable', {
  connect: get('/pty/:session_name', json(PtySession), { params: BySession, query: SizeQuery }),
  control: post(
    '/pty/:session_name/control',
    json(z.object({ session_name: z.string(), status: openEnum(['ready', 'closed']) })),
    { params: BySession, body: PtyControl },
  ),
  /** Server to client: binary frames with raw output. Client to server: input as binary or text. */
  attach: get('/pty/:session_name/attach', webSocket, { params: BySession, query: AttachQuery }),
})
