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

it('validates on submit and again while typing', async () => {
  const { user } = open()
  await user.click(await submit())
  expect(await screen.findByText('Enter a job file')).toBeTruthy()
  await user.type(screen.getByRole('textbox', { name: 'Job file' }), 'a')
  expect(screen.queryByText('Enter a job file')).toBeNull()

  await user.click(screen.getByRole('radio', { name: 'Benchmark' }))
  await user.click(await submit())
  expect(await screen.findByText('Choose a benchmark')).toBeTruthy()
  await user.click(screen.getByRole('button', { name: 'Add agent' }))
  expect(screen.getAllByRole('combobox', { name: 'Agent name' })).toHaveLength(2)
  await user.click(screen.getByRole('button', { name: 'Remove agent 2' }))
  await user.type(screen.getByRole('combobox', { name: 'Agent name' }), 'nop')
  expect(screen.queryByText('Enter an agent name')).toBeNull()
})

it('shows rejected lines of the job file until it changes', async () => {
  const { user } = open()
  respond = () =>
    Response.json(
      { code: 'invalid_argument', field: 'spec.inline_yaml', message: 'line 1: no such folder' },
      { status: 400 },
    )
  const file = screen.getByRole('textbox', { name: 'Job file' })
  await user.type(file, 'a')
  await user.click(await submit())
  expect(await screen.findByText('line 1: no such folder')).toBeTruthy()
  await user.type(file, 'b')
  expect(screen.queryByText('line 1: no such folder')).toBeNull()
})

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
