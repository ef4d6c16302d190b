import { expect, it } from 'vitest'
import { startServer } from '../testing.ts'
import { handleAsWebRequest } from './web-request.ts'

it('sends a body without a warning of leaked listeners', async () => {
  const warnings: string[] = []
  const onWarning = ({ message }: Error) => warnings.push(message)
  process.on('warning', onWarning)
  const { url, close } = await startServer((incoming, outgoing) => {
    // The same number that the request guards and the metrics add.
    for (let i = 0; i < 4; i++) outgoing.once('close', () => undefined)
    void handleAsWebRequest(incoming, outgoing, async () => new Response('content'))
  })
  try {
    expect(await (await fetch(url, { method: 'POST', body: 'a body' })).text()).toBe('content')
    expect(warnings).toEqual([])
  } finally {
    close()
    process.off('warning', onWarning)
  }
})
