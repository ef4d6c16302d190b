import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeUnderEachIsolation } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { openTerminal } from '#lib/service/testing/terminals.ts'

describeUnderEachIsolation('the end of a shell under isolation', (isolation) => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation })
    id = (await service.client.devboxes.createAndAwaitRunning({ body: {} })).id
  })
  afterAll(() => service.close())

  let count = 0
  const open = (name = `${id}-${++count}`) => openTerminal(service, name)
  const run = (command: string) => service.client.executions.executeSync({ params: { id }, body: { command } })

  it('is reported with its exit status after all output', async () => {
    const { type, closed, text } = await open()
    type('seq 1 100000; echo la""st; exit 3\r')
    expect(await closed).toEqual({ code: 4000, reason: 'The shell ended with 3' })
    expect(text()).toMatch(/\r\n99999\r\n100000\r\nlast\r\nexit\r\n$/)
  })

  it('waits for a slow client to receive the last output', async () => {
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

  it('by a signal is reported as such', async () => {
    const { type, closed } = await open()
    type('kill -9 $$\r')
    expect(await closed).toEqual({ code: 1011, reason: 'The shell was killed by signal 9' })
  })

  it('is reported to a client that reconnects', async () => {
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

  it('with its devbox is reported with the reason', async () => {
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
})
