// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, it, vi } from 'vitest'
import { FormDialog } from './form-dialog.tsx'
import { type RefusalOf, Refusals } from './refusals.ts'

afterEach(cleanup)

it("refuses to submit once the person's role no longer allows the operation", () => {
  const onSubmit = vi.fn()
  const dialog = (refusalOf: RefusalOf) => (
    <Refusals value={refusalOf}>
      <FormDialog
        open
        title="Create axon"
        needs="axons.create"
        submitLabel="Create axon"
        onOpenChange={() => undefined}
        onSubmit={onSubmit}
      >
        <textarea aria-label="Name" />
      </FormDialog>
    </Refusals>
  )
  const submit = () => act(() => screen.getByLabelText<HTMLTextAreaElement>('Name').form?.requestSubmit())
  const { rerender } = render(dialog(() => null))
  submit()
  expect(onSubmit).toHaveBeenCalledTimes(1)

  rerender(dialog((operation) => (operation === 'axons.create' ? "Viewers can't do this." : null)))
  const button = screen.getByRole('button', { name: /^Create axon/ })
  expect(button.getAttribute('aria-disabled')).toBe('true')
  expect(button.textContent).toMatch(/Viewers can't do this\.$/)
  fireEvent.click(button)
  submit()
  expect(onSubmit).toHaveBeenCalledTimes(1)
})
