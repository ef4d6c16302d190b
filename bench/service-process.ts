import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** The URL a service prints once it listens. */
export const addressOf = async ({ stdout }: ChildProcess): Promise<string> => {
  if (stdout)
    for await (const line of createInterface(stdout)) {
      const url = /http:\/\/[\w.:]+/.exec(line)?.[0]
      if (url) return url
    }
  throw new Error('The service did not start')
}

export const residentMiB = (pid: number | undefined, field: 'VmRSS' | 'VmHWM') =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
