import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import { expect, it } from 'vitest'
import { startService } from '#lib/service/testing/service.ts'
import { ConcurrencyLimit, maxConcurrent } from './concurrency-limit.ts'

it('limits each kind per account', () => {
  const concurrency = new ConcurrencyLimit()
  const counted = Array.from({ length: maxConcurrent.streams }, () => concurrency.acquire('one', 'streams'))
  expect(() => concurrency.acquire('one', 'streams')).toThrow(/concurrent streams/)
  concurrency.acquire('one', 'calls')
  concurrency.acquire('two', 'streams')
  counted[0]?.()
  expect(() => concurrency.acquire('one', 'streams')).not.toThrow()
})

it('disconnects a client that keeps resetting streams', async () => {
  const service = await startService()
  const session = connect(service.url)
  session.on('error', () => undefined)
  const disconnected = once(session, 'goaway')
  let isClosed = false
  session.once('close', () => {
    isClosed = true
  })
  while (!isClosed && !session.destroyed) {
    for (let i = 0; i < 50 && !session.destroyed && !session.closed; i++) {
      const stream = session.request({ ':path': '/v1/axons', authorization: `Bearer ${service.key}` })
      stream.on('error', () => undefined)
      stream.close(constants.NGHTTP2_CANCEL)
    }
    const turn = new Promise((resolve) => setImmediate(resolve))
    if (await Promise.race([disconnected.then(() => true), turn.then(() => false)])) break
  }
  await disconnected
  session.destroy()
  const other = await fetch(`${service.url}/v1/axons`, { headers: { authorization: `Bearer ${service.key}` } })
  expect(other.status).toBe(200)
  await service.close()
})
