// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { AppRouterContext } from 'next/dist/shared/lib/app-router-context.shared-runtime'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { CreateDevboxDialog } from '#components/devboxes/create/create-devbox-dialog.tsx'

let answer: () => Response
let sent: unknown[]
beforeEach(() => {
  sent = []
  vi.stubGlobal('fetch', async (url: string, init?: RequestInit) => {
    if (init?.method === 'POST') sent.push(JSON.parse(String(init.body)))
    return url.startsWith('/api/v1/blueprints') ? answer() : Response.json({ message: 'none' }, { status: 404 })
  })
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const open = async (blueprint?: { id: string; name: string }) => {
  render(
    <AppRouterContext value={{ push: vi.fn() } as never}>
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <CreateDevboxDialog open blueprint={blueprint} onOpenChange={() => undefined} />
      </QueryClientProvider>
    </AppRouterContext>,
  )
  return { user: userEvent.setup(), source: await screen.findByRole('combobox', { name: 'Source' }) }
}
const sources = (select: HTMLElement) =>
  within(select)
    .getAllByRole('option')
    .map(({ textContent }) => textContent)

const build = (id: string, name: string, create_time_ms: number, more = {}) => ({
  id,
  name,
  create_time_ms,
  status: 'build_complete',
  state: 'created',
  parameters: { name },
  ...more,
})

it('offers the newest ready build of each name, and sends its id', async () => {
  // A service may ignore the filter, and order builds in its own way.
  const blueprints = [
    build('bpt_old', 'node', 1),
    build('bpt_failed', 'node', 4, { status: 'failed' }),
    build('bpt_new', 'node', 3),
    build('bpt_go', 'go', 2),
    build('bpt_gone', 'gone', 5, { state: 'deleted' }),
  ]
  answer = () => Response.json({ blueprints, has_more: false })
  const { user, source } = await open()
  await user.selectOptions(source, 'Blueprint')
  const names = () => screen.getAllByRole('radio').map((radio) => radio.closest('label')?.textContent)
  await waitFor(() => expect(names()).toEqual(['node1970-01-01', 'go1970-01-01']))
  await user.click(screen.getByRole('radio', { name: /^node/ }))
  await user.click(screen.getByRole('button', { name: 'Create devbox' }))
  await waitFor(() => expect(sent).toEqual([{ blueprint_id: 'bpt_new' }]))
})

it('names a selected blueprint that is not listed', async () => {
  answer = () => Response.json({ blueprints: [build('bpt_go', 'go', 2)], has_more: false })
  await open({ id: 'bpt_old', name: 'node' })
  expect(await screen.findByText('bpt_old')).toBeTruthy()
})

it('is not offered by a service without blueprints', async () => {
  answer = () => Response.json({ code: 'not_implemented', message: 'not here' }, { status: 501 })
  const { source } = await open()
  await waitFor(() => expect(sources(source)).toEqual(['Empty disk', 'Snapshot']))
})
