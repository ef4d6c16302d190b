import { setTimeout as delay } from 'node:timers/promises'
import type { HealthConfig } from 'dockerode'
import type { Box, ContainerRun } from '../box.ts'

interface Check {
  argv: readonly string[]
  intervalMs: number
  timeoutMs: number
  startPeriodMs: number
  retries: number
}

interface ImageConfig {
  Healthcheck?: HealthConfig
  Shell?: string[]
}

const maxPollMs = 500
const maxOutputLength = 1000

/**
 * Waits as Docker does for a container's first success. The swarm gets no health check of devboxes: it would end those
 * whose service an agent stops for a while.
 */
export const untilHealthy = async (
  box: Box,
  own: ContainerRun['healthcheck'],
  image: ImageConfig,
  signal: AbortSignal,
): Promise<void> => {
  const check = checkOf(own, image)
  if (!check) return
  const { intervalMs, startPeriodMs, retries } = check
  for (const giveUpMs = Date.now() + startPeriodMs + intervalMs * retries; ; ) {
    const problem = await run(box, check, signal)
    if (problem === undefined) return
    if (Date.now() > giveUpMs) throw new Error(`The container is unhealthy${problem && `: ${problem}`}`)
    await delay(Math.min(intervalMs, maxPollMs), undefined, { signal })
  }
}

const checkOf = (own: ContainerRun['healthcheck'], { Healthcheck = {}, Shell }: ImageConfig): Check | undefined => {
  if (own === 'none') return undefined
  const [kind, ...words] = own?.test ?? Healthcheck.Test ?? []
  if (kind === undefined || kind === 'NONE') return undefined
  const milliseconds = (nanoseconds: number | undefined) => (nanoseconds ? nanoseconds / 1e6 : undefined)
  return {
    argv: kind === 'CMD-SHELL' ? [...(Shell ?? ['/bin/sh', '-c']), ...words] : words,
    intervalMs: own?.intervalMs ?? milliseconds(Healthcheck.Interval) ?? 30_000,
    timeoutMs: own?.timeoutMs ?? milliseconds(Healthcheck.Timeout) ?? 30_000,
    startPeriodMs: own?.startPeriodMs ?? milliseconds(Healthcheck.StartPeriod) ?? 0,
    retries: own?.retries ?? (Healthcheck.Retries || 3),
  }
}

/** The output of a check that failed. */
const run = async (box: Box, { argv, timeoutMs }: Check, signal: AbortSignal): Promise<string | undefined> => {
  signal.throwIfAborted()
  const { stdout, stderr, exited, kill } = await box.start({ argv, env: {} })
  let output = ''
  for (const stream of [stdout, stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-maxOutputLength)
    })
  const timer = setTimeout(() => void kill('SIGKILL', 'group'), timeoutMs)
  try {
    return (await exited) === 0 ? undefined : output.trim()
  } finally {
    clearTimeout(timer)
  }
}
