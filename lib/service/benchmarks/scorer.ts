import { ServiceError } from '#lib/service/kit/errors.ts'
import type { Workbench } from './workbench.ts'

/** Unspecified: how much output a result keeps. The end. */
const maxOutputBytes = 64 * 1024

export class ScorerError extends Error {
  override readonly name = 'ScorerError'
  readonly output: string

  constructor(message: string, output = '') {
    super(message)
    this.output = output
  }
}

export interface ScorerBench {
  workbench: Workbench
  workingDirectory: string | null
  deadlineMs: number
}

export interface Scored {
  exitStatus: number
  stdout: string
  output: string
}

/** Throws a ScorerError if the working directory doesn't exist, or on timeout after killing the process group. */
export const runScorer = async (
  { workbench, workingDirectory, deadlineMs }: ScorerBench,
  script: string,
  env: Record<string, string> = {},
): Promise<Scored> => {
  const leftMs = deadlineMs - Date.now()
  if (leftMs <= 0) throw new ScorerError('Scoring timed out before this scorer started')
  if (script.includes('\0')) throw new ScorerError('The scorer contains a NUL character')
  const outputOf = ({ stdout, stderr }: { stdout: string; stderr: string }) => [stdout, stderr].map(tail).join('')
  const finished = await workbench.run(script, {
    env,
    cwd: workingDirectory,
    limit: {
      seconds: leftMs / 1000,
      error: (killed) => new ScorerError('Scoring timed out; this scorer was killed', outputOf(killed)),
    },
  })
  return { exitStatus: finished.exitStatus, stdout: finished.stdout, output: outputOf(finished) }
}

export const requireDirectory = async (bench: ScorerBench): Promise<void> => {
  if (bench.workingDirectory === null) return
  const { exitStatus, output } = await runScorer(bench, 'true')
  if (exitStatus !== 0)
    throw new ScorerError(`The working directory ${bench.workingDirectory} does not exist or is not accessible`, output)
}

export const writeTestFile = async (
  { workbench, workingDirectory }: ScorerBench,
  path: string,
  content: string,
): Promise<void> => {
  try {
    await workbench.write(`${workingDirectory ?? '~'}/${path}`, content)
  } catch (error) {
    if (!(error instanceof ServiceError) || !writeErrors.includes(error.code)) throw error
    throw new ScorerError(`The file ${path} could not be written: ${error.message}`)
  }
}

const writeErrors: string[] = ['invalid_argument', 'forbidden', 'not_found', 'insufficient_storage']

const tail = (text: string): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxOutputBytes) return text
  // Start at a line if possible.
  const cut = bytes.subarray(bytes.length - maxOutputBytes)
  const line = cut.indexOf('\n') + 1
  return `[${bytes.length - cut.length + line} bytes omitted]\n${cut.subarray(line).toString()}`
}

/** The agent controls the output, so patterns only match short text. */
const maxNumberLength = 64
const number = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/
const scoreWord = /(?<!\S)score=(\S{1,64})(?!\S)/g

export const lastScore = (text: string): string | undefined =>
  [...text.matchAll(scoreWord)].map(([, value = '']) => value).findLast((value) => number.test(value))

export const numberInLastLine = (text: string): string | undefined => {
  const trimmed = text.trimEnd()
  const line = trimmed.slice(trimmed.lastIndexOf('\n') + 1).trim()
  return line.length <= maxNumberLength && number.test(line) ? line : undefined
}

export const fromZeroToOne = (text: string, output: string): number => {
  const value = Number(text)
  if (!(value >= 0 && value <= 1)) throw new ScorerError(`The score ${text} is not between 0 and 1`, output)
  return value
}
