import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import type { TerminalNotice } from '#lib/protocol/terminals.ts'
import { atPrompt, newName, openPage, prompt, Reader, type Target, toCat, type Way } from './terminal-targets.ts'

/** Each function measures once; the caller alternates targets and takes medians. */

/** Round trip of each key through `cat`, in ms. */
export const echo = async (target: Target, keys: number, gapMs: number): Promise<number[]> => {
  const { reader } = await atPrompt(target)
  await toCat(reader)
  const times = await typeKeys(reader, keys, gapMs)
  reader.shell.end()
  return times
}

const typeKeys = async (reader: Reader, keys: number, gapMs: number): Promise<number[]> => {
  const times: number[] = []
  let shown = Promise.withResolvers<number>()
  // `until` allocates per key, and its garbage would count for the terminal.
  reader.divert((bytes) => {
    shown.resolve(performance.now())
    reader.shell.parsed(bytes.length)
  })
  const never = setTimeout(() => shown.reject(new Error('A key was not echoed within 10 s')), 10_000)
  try {
    for (let key = 0; key < keys + 50; key++) {
      shown = Promise.withResolvers()
      never.refresh()
      const typedAt = performance.now()
      reader.shell.send(String.fromCharCode(97 + (key % 26)))
      const took = (await shown.promise) - typedAt
      // The first ones warm up.
      if (key >= 50) times.push(took)
      if (gapMs > 0) await delay(gapMs)
    }
  } finally {
    clearTimeout(never)
  }
  return times
}

/** Round trip of one byte to another process over a WebSocket. */
export const hop = async (keys: number, gapMs: number): Promise<number[]> => {
  const server = fork(fileURLToPath(new URL('./terminal-hop.ts', import.meta.url)))
  const [port] = (await once(server, 'message')) as [number]
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false })
  await once(socket, 'open')
  const times: number[] = []
  for (let key = 0; key < keys + 50; key++) {
    const sentAt = performance.now()
    const back = once(socket, 'message')
    socket.send(Buffer.from('a'))
    await back
    if (key >= 50) times.push(performance.now() - sentAt)
    if (gapMs > 0) await delay(gapMs)
  }
  socket.terminate()
  server.kill()
  return times
}

/** MB/s until a reader has the last line. */
export const flood = async (target: Target, megabytes: number): Promise<number> => {
  const { reader } = await atPrompt(target)
  const startedAt = performance.now()
  reader.shell.send(`head -c ${Math.round((megabytes * 3e6) / 4)} /dev/zero | base64; echo FLOOD""END\r`)
  const endAt = await reader.until(/FLOODEND/, 300_000)
  reader.shell.end()
  // The terminal turns each line end into two bytes, one per 76 characters.
  return (megabytes * (78 / 76)) / ((endAt - startedAt) / 1000)
}

const yes = 'yes 0123456789abcdefghijklmnopqrstuvwxyz\r'

/** ^C during `yes` until a reader that parses `rate` MB/s has the prompt, and its largest buffer. */
export const interrupt = async (target: Target, { rate, seconds }: { rate: number; seconds: number }) => {
  const { reader } = await atPrompt(target)
  const queue: Buffer[] = []
  let held = 0
  let mostHeld = 0
  reader.divert((bytes) => {
    queue.push(bytes)
    held += bytes.length
    mostHeld = Math.max(mostHeld, held)
  })
  let last = performance.now()
  // As a page does: one slice per frame.
  const timer = setInterval(() => {
    const now = performance.now()
    let room = Math.min(60, now - last) * rate * 1000
    last = now
    for (let first = queue[0]; first && room > 0; first = queue[0]) {
      const part = first.subarray(0, Math.ceil(room))
      if (part.length === first.length) queue.shift()
      else queue[0] = first.subarray(part.length)
      held -= part.length
      room -= part.length
      reader.parse(part)
    }
  }, 12)
  try {
    reader.shell.send(yes)
    await delay(seconds * 1000)
    reader.forget()
    const typedAt = performance.now()
    reader.shell.send('\x03')
    const ms = (await reader.until(prompt, 60_000)) - typedAt
    return { ms, heldMb: mostHeld / 1e6 }
  } finally {
    clearInterval(timer)
    reader.shell.end()
  }
}

/** Stops reading while `yes` runs and calls `during`, then reconnects with ^C, as a page that was frozen does. */
export const stoppedReader = async (target: Target, during: () => Promise<void>) => {
  const session = newName()
  const { reader } = await atPrompt(target, session)
  reader.shell.send(yes)
  await delay(1000)
  reader.shell.socket?.pause()
  await during()
  reader.shell.leave()
  const startedAt = performance.now()
  const again = new Reader(await target.attach(session))
  again.shell.send('\x03')
  const ms = (await again.until(prompt, 60_000)) - startedAt
  again.shell.end()
  return ms
}

/** Time to the prompt of a new shell, and of one left a moment ago. */
export const attach = async (target: Target) => {
  const session = newName()
  const { reader, promptMs: newMs } = await atPrompt(target, session)
  if (target.name !== 'console') {
    reader.shell.end()
    return { newMs, againMs: Number.NaN }
  }
  reader.shell.leave()
  const { reader: again, promptMs: againMs } = await atPrompt(target, session)
  again.shell.end()
  return { newMs, againMs }
}

/** Reconnects repeatedly while a shell counts, each time at the last byte. Returns whether the output is complete. */
export const reconnects = async (way: Way, times: number) => {
  const session = newName()
  const last = 300_000
  const hash = createHash('sha256')
  let place: { epoch: string; since: number } | undefined
  let isCounting = false
  let text = ''
  let snapshots = 0
  let isDone = false
  const connect = async () => {
    const query: Record<string, string> = place ? { epoch: place.epoch, since: `${place.since}` } : {}
    const page = await openPage(way, session, { client: 'bench', ...query })
    const arrived = Promise.withResolvers<void>()
    let isPicture = false
    page.onNotice((notice: TerminalNotice) => {
      if (notice.t === 'ready') {
        if (isCounting && (notice.from !== 'since' || notice.epoch !== place?.epoch)) snapshots++
        place = { epoch: notice.epoch, since: notice.offset }
        arrived.resolve()
      } else if (notice.t === 'snap') {
        isPicture = true
        if (isCounting) snapshots++
        if (place) place.since = notice.offset
      }
    })
    page.onData((bytes) => {
      page.parsed(bytes.length)
      if (isPicture) {
        isPicture = false
        return
      }
      if (place) place.since += bytes.length
      text += bytes.toString('latin1')
      if (!isCounting) return
      const end = text.indexOf('END\n')
      isDone ||= end >= 0
      hash.update(end >= 0 ? text.slice(0, end) : text.slice(0, -16))
      text = end >= 0 ? '' : text.slice(-16)
    })
    await arrived.promise
    return page
  }
  let page = await connect()
  page.send(
    `stty raw -echo; printf "rea%s" dy; read -r go; for ((i = 1; i <= ${last}; i++)); do echo $i; done; echo END; read -r go\n`,
  )
  await waitFor(() => text.endsWith('ready'))
  text = ''
  isCounting = true
  page.send('go\n')
  for (let done = 0; done < times; done++) {
    await delay(5)
    page.leave()
    await page.closed
    page = await connect()
  }
  const counted = isDone ? 0 : Number(/(\d+)\n\d*$/.exec(text)?.[1])
  await waitFor(() => isDone, 120_000)
  page.end()
  const expected = createHash('sha256')
  for (let number = 1; number <= last; number++) expected.update(`${number}\n`)
  return { isSame: hash.digest('hex') === expected.digest('hex'), snapshots, reached: counted / last }
}

/** Many shells with two pages each, all receiving keys: round trips to the typing page and to the other. */
export const crowd = async (ways: Way[], { sessions, seconds }: { sessions: number; seconds: number }) => {
  const attachBoth = async (index: number) => {
    const way = ways[index % ways.length] as Way
    const session = newName()
    const reader = new Reader(await openPage(way, session, { client: `w${index}` }))
    await reader.until(prompt)
    await toCat(reader)
    const watcher = new Reader(await openPage(way, session, { client: `v${index}`, role: 'watch' }))
    return { reader, watcher }
  }
  const shells: Awaited<ReturnType<typeof attachBoth>>[] = []
  for (let first = 0; first < sessions; first += 8) {
    const indexes = Array.from({ length: Math.min(8, sessions - first) }, (_, at) => first + at)
    shells.push(...(await Promise.all(indexes.map(attachBoth))))
  }
  await delay(500)
  const typed: number[] = []
  const watched: number[] = []
  const end = performance.now() + seconds * 1000
  await Promise.all(
    shells.map(async ({ reader, watcher }, index) => {
      await delay(index * 4)
      while (performance.now() < end) {
        reader.forget()
        watcher.forget()
        const typedAt = performance.now()
        const both = Promise.all([reader.until(/[a-z]/, 20_000), watcher.until(/[a-z]/, 20_000)])
        reader.shell.send('k')
        const [at, alsoAt] = await both
        typed.push(at - typedAt)
        watched.push(alsoAt - typedAt)
        await delay(200)
      }
    }),
  )
  for (const { reader, watcher } of shells) {
    watcher.shell.leave()
    reader.shell.end()
  }
  return { typed, watched }
}

const waitFor = async (isSo: () => boolean, withinMs = 20_000) => {
  const end = performance.now() + withinMs
  while (!isSo()) {
    if (performance.now() > end) throw new Error('Timed out')
    await delay(5)
  }
}
