import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient } from '#lib/client/client.ts'
import { makeScenarios } from '#lib/service/testing/jobs.ts'
import { quantileOf } from '../bench/compare.ts'
import { residentMiB } from './process.ts'
import { Person, type Seen } from './team/person.ts'
import { startConsoleProcess, startServiceProcess } from './team/processes.ts'

const recoveryMs = 120_000
const afterFaultMs = 20_000
const diskMiB = 768
const maxMinutes = 24 * 60

/**
 * People who open pages, type in terminals, run commands and jobs, and create records, all at once. Then the console is
 * killed, the service restarted as for an upgrade, and the disk filled, and it reports what each of them saw.
 */
export const soakTeam = async (args: readonly string[]) => {
  const { values } = parseArgs({
    args: [...args],
    options: { people: { type: 'string', default: '30' }, minutes: { type: 'string', default: '20' } },
  })
  const [count, minutes] = [Number(values.people), Number(values.minutes)]
  if (!(count >= 1 && count <= 200 && minutes > 0 && minutes <= maxMinutes))
    throw new Error('--people takes 1 to 200, --minutes up to 1440')
  const root = mkdtempSync(join(tmpdir(), 'devdeck-team-'))
  const disk = smallDisk(join(root, 'disk'))
  const [serviceDir, consoleDir] = [join(disk.folder, 'service'), join(root, 'console')]
  const print = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`)
  let service = await startServiceProcess(serviceDir)
  const { port, apiKey } = service
  let web: Awaited<ReturnType<typeof startConsoleProcess>> | undefined
  const people: Person[] = []
  try {
    web = await startConsoleProcess(consoleDir, service.url)
    const { url, port: webPort } = web
    const client = createClient({ baseUrl: service.url, headers: { authorization: `Bearer ${apiKey}` } })
    const scenarioIds = await makeScenarios(client, 3)
    for (let i = 0; i < count; i++)
      people.push(await Person.signIn({ name: `person ${i + 1}`, url, apiKey, scenarioIds, runsJobs: i % 5 === 0 }))
    print(`${count} people signed in and have a devbox each`)
    const sizes = () =>
      [['console', web?.pid] as const, ['service', service.pid] as const]
        .map(([name, pid]) => `${name} ${residentMiB(pid, 'VmRSS').toFixed(0)} MiB, ${descriptors(pid)} descriptors`)
        .join('; ')
    for (const person of people) person.start()
    await delay(10_000)
    print(`start: ${sizes()}`)
    const seen = () => people.map((person) => person.take())
    seen()
    await delay(minutes * 30_000)
    print(`middle: ${sizes()}`)
    await delay(minutes * 30_000)
    print(`end: ${sizes()}`)
    const quiet = seen()
    for (const line of summary(`${minutes} minutes`, quiet)) print(line)
    const problems = quiet.flatMap(({ failures }) => failures.map((failure) => `without a fault: ${failure.text}`))

    const fault = async (name: string, cause: () => Promise<void>) => {
      await cause()
      const untilMs = Date.now() + recoveryMs
      const since = Date.now()
      while (!people.every((person) => person.worksSince(since)) && Date.now() < untilMs) await delay(200)
      const stuck = people.filter((person) => !person.worksSince(since))
      problems.push(...stuck.map((person) => `${name}: ${person.name} didn't recover: ${person.stuck(since)}`))
      await delay(afterFaultMs)
      for (const line of summary(name, seen())) print(line)
    }
    await fault('console killed and started again', async () => {
      await web?.end('SIGKILL')
      web = await startConsoleProcess(consoleDir, service.url, webPort)
    })
    await fault('service restarted', async () => {
      await service.end('SIGTERM')
      service = await startServiceProcess(serviceDir, port)
    })
    if (disk.isSmall)
      await fault('disk filled for 20 s', async () => {
        disk.fill()
        await delay(20_000)
        disk.empty()
      })
    else print('disk not filled: this user may not mount one; try inside `unshare --map-root-user --mount`')

    await Promise.all(people.map((person) => person.stop()))
    print(`after the faults: ${sizes()}`)
    for (const person of people) problems.push(...(await person.lost(client)))
    return { lines: [], problems }
  } finally {
    for (const person of people) void person.stop()
    await web?.end('SIGTERM')
    await service.end('SIGTERM')
    disk.remove()
    rmSync(root, { recursive: true, force: true })
  }
}

const descriptors = (pid: number | undefined) => readdirSync(`/proc/${pid}/fd`).length

const summary = (phase: string, seen: readonly Seen[]): string[] => {
  const lists = seen.flatMap(({ listMs }) => listMs)
  const failures = seen.flatMap((each) => each.failures)
  const byKind = Map.groupBy(failures, ({ kind }) => kind)
  const kinds = [...byKind]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([kind, { length }]) => `${length} × ${kind}`)
  const counted = Object.entries(
    seen.reduce<Record<string, number>>((sums, { done }) => {
      for (const [kind, count] of Object.entries(done)) sums[kind] = (sums[kind] ?? 0) + count
      return sums
    }, {}),
  ).map(([kind, count]) => `${count} ${kind}`)
  const affected = seen.filter((each) => each.failures.length > 0)
  const outages = affected.map(({ outageMs }) => outageMs)
  return [
    `${phase}: lists p50 ${quantileOf(lists, 0.5).toFixed(0)} ms, p99 ${quantileOf(lists, 0.99).toFixed(0)} ms of ${lists.length}; ${counted.join(', ')}`,
    `${phase}: ${affected.length} of ${seen.length} people saw a failure${affected.length > 0 ? `, for ${(quantileOf(outages, 0.5) / 1000).toFixed(1)} s (p50) to ${(Math.max(...outages) / 1000).toFixed(1)} s; ${kinds.join(', ')}` : ''}`,
  ]
}

/** A disk that can be filled, if this user may mount one. */
const smallDisk = (folder: string) => {
  const filler = join(folder, 'filler')
  mkdirSync(folder)
  let isSmall = true
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMiB}m,mode=700`, 'devdeck', folder], { stdio: 'ignore' })
  } catch {
    isSmall = false
  }
  return {
    folder,
    isSmall,
    fill: () => {
      try {
        for (let i = 0; ; i++) writeFileSync(`${filler}${i}`, Buffer.alloc(2 ** 20))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    empty: () => {
      for (const name of readdirSync(folder)) if (name.startsWith('filler')) rmSync(join(folder, name))
    },
    remove: () => {
      if (isSmall) execFileSync('umount', ['--lazy', folder])
    },
  }
}
