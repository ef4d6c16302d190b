import * as z from 'zod/mini'
import { openEnum, queryInt } from './common.ts'
import { defineEndpoints, json, webSocket } from './endpoint.ts'
import { maxCells, sessionNamePattern } from './terminal-limits.ts'

export const defaultSize = { cols: 80, rows: 24 } as const
/** WebSocket close code for a shell that ended by itself, as the public clients read it. */
export const shellEndedCode = 4000

const cellsMessage = `must be a whole number from 1 to ${maxCells}`
const cell = z.int(cellsMessage).check(z.minimum(1, cellsMessage), z.maximum(maxCells, cellsMessage))
const cellText = z.optional(
  z
    .union([z.string(), z.number()])
    .check(z.describe(`A whole number from 1 to ${maxCells}; applied only when both cols and rows are given`)),
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

const sizeText = { cols: cellText, rows: cellText }

/** `size` is absent unless both cols and rows are given; one alone is ignored, whatever it says. */
export const SizeQuery = z.pipe(z.object(sizeText).check(checkSize), z.transform(sizeOf))

// Unspecified: how a client that lost its connection goes on without losing or repeating a byte.
const AttachQuery = z.pipe(
  z
    .object({
      ...sizeText,
      after: z.optional(
        queryInt(0, Number.MAX_SAFE_INTEGER).check(
          z.describe('How many bytes of the shell were read before: only later ones are sent'),
        ),
      ),
    })
    .check(checkSize),
  z.transform(({ after, ...size }): { after?: number; size?: { cols: number; rows: number } } => ({
    ...sizeOf(size),
    ...(after === undefined ? {} : { after }),
  })),
)

/**
 * Headers of the handshake's answer, of a service that keeps what a shell has printed. The offset of a byte is how many
 * bytes the shell had printed before. The first byte sent is that of `after` if it is still kept, and if not, or when
 * `after` was not given, the first of what is kept. Offsets are of one shell: another of the same name has another id.
 */
export const outputOffsetHeader = 'x-output-offset'
export const shellIdHeader = 'x-shell-id'
/**
 * Unspecified: how a client that lost its connection knows which of its input arrived. This header of the handshake counts
 * the bytes of input that the shell has received from all its clients.
 */
export const inputOffsetHeader = 'x-input-offset'

const BySession = z.object({
  session_name: z.string().check(z.regex(sessionNamePattern, 'must be 1 to 256 ASCII letters, digits, - or _')),
})

export const PtySession = z.object({
  /** True when this call started the shell, false when it found one. */
  created: z.boolean(),
  /** True while another client holds the session's one WebSocket. */
  attached: z.boolean(),
  session_name: z.optional(z.string()),
  status: z.optional(openEnum(['ready', 'closed'])),
  protocol_version: z.optional(z.string()),
  /** Path and query of the WebSocket, relative to the service. */
  connect_url: z.optional(z.string()),
  cols: z.optional(z.int()),
  rows: z.optional(z.int()),
  /** How long a shell without a client is kept. */
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

/** All of them take the API key, or the token of `devboxes.createPtyTunnel`, which also names the devbox. */
export const terminals = defineEndpoints('terminals', 'stable', {
  connect: {
    method: 'GET',
    path: '/pty/:session_name',
    params: BySession,
    query: SizeQuery,
    response: json(PtySession),
  },
  control: {
    method: 'POST',
    path: '/pty/:session_name/control',
    params: BySession,
    body: PtyControl,
    response: json(z.object({ session_name: z.string(), status: openEnum(['ready', 'closed']) })),
  },
  /** Server to client: binary frames of raw terminal bytes. Client to server: keystrokes, binary or text. */
  attach: {
    method: 'GET',
    path: '/pty/:session_name/attach',
    params: BySession,
    query: AttachQuery,
    response: webSocket,
  },
})
