import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { AxonEvent } from '#lib/contract/axons.ts'
import { startService } from '#lib/service/testing/service.ts'

interface LostWritesReport {
  acknowledged: number
  /** Acknowledged or delivered events that were lost, and database corruption. */
  problems: string[]
}

/**
 * Publishes events on a disk that loses writes until it fails, `rounds` times. Not a regular test, because such a disk
 * may also lose older data. Undefined if this user may not mount one.
 */
export const loseWrites = async (rounds: number): Promise<LostWritesReport | undefined> => {
  const disk = thinDisk()
  if (!disk) return undefined
  const dataDir = join(disk.folder, 'data')
  const service = await startService({ isolation: 'none', dataDir })
  // A failed flush ends the process of a real service.
  const onFailedFlush = () => undefined
  process.on('uncaughtException', onFailedFlush)
  try {
    const problems: string[] = []
    const { id } = await service.client.axons.create()
    const subscribe = () =>
      service.client.axons
        .subscribe({ params: { id }, query: { after_sequence: heard.at(-1) ?? 0 } })
        [Symbol.asyncIterator]() as AsyncIterator<AxonEvent>
    const publish = async (payload: string) => {
      const answer = await service.fetch(`/v1/axons/${id}/publish`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ event_type: 'note', origin: 'USER_EVENT', source: 'soak', payload }),
      })
      return { status: answer.status, body: await answer.json() }
    }
    const acknowledged: number[] = []
    const heard: number[] = []
    let stream = subscribe()
    /** False once a publish failed. */
    const published = async (payload: string) => {
      const { status, body } = await publish(payload)
      if (status !== 200) return false
      acknowledged.push(body.sequence)
      heard.push((await stream.next()).value.sequence)
      return true
    }
    for (let round = 0; round < rounds; round++) {
      if (!(await published('there is room'))) problems.push('a write failed although there was room')
      disk.fill()
      while (await published('x'.repeat(100_000)));
      disk.empty()
      await stream.return?.()
      await service.restart()
      stream = subscribe()
    }
    if (!(await published('again'))) problems.push('a write failed although there was room')
    await stream.return?.()
    await service.restart()
    const { events } = await service.client.axons.events({ params: { id }, query: { limit: 5_000 } })
    const kept = new Set(events.map(({ sequence }) => sequence))
    for (const sequence of new Set([...acknowledged, ...heard]))
      if (!kept.has(sequence)) problems.push(`event ${sequence} was acknowledged or heard, and is gone`)
    await service.close()
    const database = new DatabaseSync(join(dataDir, 'devdeck.db'), { readOnly: true })
    const [check] = database.prepare('PRAGMA integrity_check').all()
    database.close()
    if (check?.integrity_check !== 'ok') problems.push(`the database is damaged: ${check?.integrity_check}`)
    return { acknowledged: acknowledged.length, problems }
  } finally {
    process.off('uncaughtException', onFailedFlush)
    await service.close()
    disk.remove()
  }
}

/** A disk of 64 MB backed by 24: writes succeed until they are flushed. Undefined if this user may not mount one. */
const thinDisk = () => {
  const root = mkdtempSync(join(tmpdir(), 'devdeck-thin-'))
  const [store, folder, filler] = [join(root, 'store'), join(root, 'disk'), join(root, 'store', 'filler')]
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'ignore' })
  const remove = () => {
    for (const mounted of [folder, store])
      try {
        run('umount', '--lazy', mounted)
      } catch {
        // It was never mounted.
      }
    rmSync(root, { recursive: true })
  }
  const fill = () => {
    const handle = openSync(filler, 'a')
    try {
      for (;;) writeSync(handle, Buffer.alloc(65_536))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(handle)
    }
  }
  try {
    for (const each of [store, folder]) mkdirSync(each)
    run('mount', '-t', 'tmpfs', '-o', 'size=24m,mode=700', 'devdeck', store)
    const image = join(store, 'image')
    run('truncate', '--size', '64M', image)
    run('mkfs.ext4', '-q', '-F', '-O', '^has_journal', image)
    run('mount', '-o', 'loop', image, folder)
    return { folder, fill, empty: () => rmSync(filler), remove }
  } catch {
    remove()
    return undefined
  }
}
