// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { AppRouterContext } from 'next/dist/shared/lib/app-router-context.shared-runtime'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { CreateJobDialog } from './create-job-dialog.tsx'

let respond: (url: string) => Response
beforeEach(() => {
  respond = () => Response.json({ code: 'unavailable', message: 'down' }, { status: 503 })
  vi.stubGlobal('fetch', async (request: Request | string) =>
    respond(typeof request === 'string' ? request : request.url),
  )
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const open = () => {
  const push = vi.fn()
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  render(
    <AppRouterContext value={{ push } as never}>
      <QueryClientProvider client={client}>
        <CreateJobDialog open onOpenChange={() => undefined} />
      </QueryClientProvider>
    </AppRouterContext>,
  )
  return { push, user: userEvent.setup() }
}
const submit = () => screen.findByRole('button', { name: 'Create job' })

it('shows rejected fields at the form fields and opens the created job', async () => {
  const { push, user } = open()
  respond = () => Response.json({ code: 'invalid_argument', field: 'name', message: 'must be unique' }, { status: 400 })
  await user.type(screen.getByRole('textbox', { name: 'Job file' }), 'a')
  await user.click(await submit())
  expect(await screen.findByText('must be unique')).toBeTruthy()
  respond = () => Response.json({ id: 'bmj_1', name: 'x', state: 'queued', create_time_ms: 0 })
  await user.type(screen.getByRole('textbox', { name: /^Name/ }), 'x')
  await user.click(await submit())
  await vi.waitFor(() => expect(push).toHaveBeenCalledWith('/benchmark-jobs/bmj_1'))
})
