import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInEachBox, inContainer } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { openTerminal } from '#lib/service/testing/terminals.ts'

describeInEachBox('a shell under isolation', (isolation) => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation })
    // tmux would create its socket in the host's /tmp.
    const TMUX_TMPDIR = isolation === 'none' ? '.' : '/tmp'
    id = await service.devbox({ environment_variables: { TMUX_TMPDIR } })
  })
  afterAll(() => service.close())

  let count = 0
  const open = (name = `${id}-${++count}`) => openTerminal(service, name)
  const run = (command: string) => service.client.executions.executeSync({ params: { id }, body: { command } })

  it('reports its exit status after all output', async () => {
    const { type, closed, text } = await open()
    type('seq 1 100000; echo la""st; exit 3\r')
    expect(await closed).toEqual({ code: 4000, reason: 'The shell ended with 3' })
    expect(text()).toMatch(/\r\n99999\r\n100000\r\nlast\r\nexit\r\n$/)
  })

  it('waits for a slow client to receive its last output', async () => {
    const { type, closed, text, socket, shows } = await open()
    type('echo rea""dy; while [ ! -e ~/slow ]; do sleep 0.05; done; yes | head -n 2000000; touch ~/over; exit 4\r')
    await shows(/ready\r\n/)
    socket.pause()
    expect((await run('touch ~/slow; [ ! -e ~/over ]')).exit_status).toBe(0)
    socket.resume()
    expect(await closed).toEqual({ code: 4000, reason: 'The shell ended with 4' })
    expect(text()).toMatch(/(y\r\n){1000}exit\r\n$/)
  })

  it("doesn't wait for background processes", async () => {
    const { type, closed, shows } = await open()
    type('(trap "" HUP; exec sleep 1000) & echo $! > ~/left; disown; echo rea""dy\r')
    await shows(/ready\r\n/)
    type('exit\r')
    expect(await closed).toEqual({ code: 4000, reason: 'The shell ended with 0' })
    await run('kill "$(cat ~/left)"')
  })

  it('reports the signal that killed it', async () => {
    const { type, closed } = await open()
    type('kill -9 $$\r')
    expect(await closed).toEqual({ code: 1011, reason: 'The shell was killed by signal 9' })
  })

  it('reports its end to a client that reconnects', async () => {
    const first = await open()
    first.type('echo rea""dy; while [ ! -e ~/cut ]; do sleep 0.05; done; echo la""st; touch ~/done; exit 5\r')
    await first.shows(/ready\r\n/)
    first.socket.terminate()
    await first.closed
    await run('touch ~/cut; until [ -e ~/done ]; do sleep 0.05; done')
    const second = await open(first.name)
    expect(second.session.created).toBe(false)
    expect(await second.closed).toEqual({ code: 4000, reason: 'The shell ended with 5' })
    expect(second.text()).toMatch(/\r\nlast\r\n/)
    const third = await open(first.name)
    expect(third.session.created).toBe(true)
    third.socket.close()
  })

  it('reports why its devbox ended', async () => {
    const { client } = service
    const inNew = async (launch_parameters = {}) => {
      const { id } = await client.devboxes.createAndAwaitRunning({ body: { launch_parameters } })
      return { id, closed: (await open(id)).closed }
    }
    const [shut, late, evicted] = await Promise.all([inNew(), inNew({ keep_alive_time_seconds: 4 }), inNew()])
    await client.devboxes.shutdown({ params: { id: shut.id } })
    await client.evictions.schedule({ body: { devbox_id: evicted.id, eviction_deadline_ms: Date.now() } })
    expect(await shut.closed).toEqual({ code: 4001, reason: 'The devbox was shut down' })
    expect(await evicted.closed).toEqual({ code: 4001, reason: 'The devbox is suspending: it was evicted' })
    expect(await late.closed).toEqual({ code: 4001, reason: 'The devbox was shut down: its keep-alive time expired' })
  })

  const openPrompt = async () => {
    const terminal = await openTerminal(service, `${id}-${++count}`, { cols: 100, rows: 30 })
    terminal.type('cd; PS1="> "; echo rea""dy\r')
    await terminal.shows(/ready\r\n/)
    return terminal
  }

  it('reports the name of its terminal', async () => {
    const { type, shows, socket } = await openPrompt()
    type('echo "name: $(tty)."; ps -o tty= -p $$\r')
    const [, name] = await shows(/name: (\/dev\/pts\/\d+)\.\r\n(?:.*\n)*pts\/\d+\r\n/)
    type(`echo "by na""me" >${name}; exec </dev/tty; tty; stty size\r`)
    await shows(/by name\r\n\/dev\/tty\r\n30 100\r\n/)
    socket.close()
  })

  it('reads hidden input', async () => {
    const { type, shows, text, socket } = await openPrompt()
    type('(read -rsp "Pass""word: " word </dev/tty >/dev/tty; echo; echo "$word" | rev)\r')
    await shows(/Password: /)
    type('secret\r')
    await shows(/\r\nterces\r\n/)
    expect(text()).not.toContain('secret')
    socket.close()
  })

  it.skipIf(!existsSync('/usr/bin/tmux') || inContainer(isolation))('runs tmux', async () => {
    const { type, shows, socket } = await openPrompt()
    type('tmux -f /dev/null new -d -s one "tty; echo in""side; exec cat"; tmux attach -t one\r')
    await shows(/\/dev\/pts\/\d+.*inside/s)
    await shows(/\[one\]/)
    type('typed\r')
    await shows(/typed.*typed/s)
    await service.client.executions.executeSync({ params: { id }, body: { command: 'tmux detach-client -s one' } })
    await shows(/\[detached \(from session one\)\]/)
    type('tmux kill-server; echo go""ne\r')
    await shows(/gone\r\n/)
    socket.close()
  })
})
