'use client'
import { CircleAlert, CircleCheck, type LucideIcon as Icon, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Toaster as Sonner, toast as sonner } from 'sonner'
import type { Tone } from './badge.tsx'
import { type Problem, problemOf } from './problem.ts'

interface ToastOptions {
  description?: ReactNode
  action?: { label: string; onClick: () => void }
  id?: string
  /** Infinity keeps the toast until it is dismissed. */
  durationMs?: number
  /** Called when the toast is dismissed or expires. */
  onClose?: () => void
}

const tones: Record<Exclude<Tone, 'progress'>, { icon: Icon; color: string }> = {
  ok: { icon: CircleCheck, color: 'text-ok' },
  attention: { icon: TriangleAlert, color: 'text-attention' },
  danger: { icon: CircleAlert, color: 'text-danger' },
  neutral: { icon: Info, color: 'text-neutral' },
}

const show =
  (tone: keyof typeof tones, defaultMs: number) =>
  (title: ReactNode, { durationMs = defaultMs, onClose, ...options }: ToastOptions = {}): void => {
    const { icon: Icon, color } = tones[tone]
    sonner(title, {
      // Otherwise kept from a replaced toast.
      action: undefined,
      description: undefined,
      ...options,
      duration: durationMs,
      onDismiss: onClose,
      onAutoClose: onClose,
      icon: <Icon aria-hidden className={`size-4 ${color}`} />,
    })
  }

const danger = show('danger', 12_000)

export const toast = {
  ok: show('ok', 4000),
  attention: show('attention', 10_000),
  danger,
  /** Handles an error: `title` says what failed. */
  failed: (title: ReactNode) => (problem: Problem) => danger(title, { description: problemOf(problem).message }),
  info: show('neutral', 4000),
  dismiss: (id: string): void => void sonner.dismiss(id),
}

export const Toaster = () => (
  <Sonner
    position="bottom-right"
    offset={16}
    mobileOffset={12}
    gap={8}
    closeButton
    toastOptions={{
      unstyled: true,
      classNames: {
        toast:
          'flex w-full items-start gap-2.5 rounded-md bg-overlay p-3 pr-9 font-sans text-base text-text shadow-overlay md:w-[356px]',
        icon: 'mt-0.5 shrink-0',
        content: 'min-w-0 flex-1',
        title: 'font-medium break-words',
        description: 'break-words text-muted',
        actionButton: 'h-6 shrink-0 rounded-sm border border-line px-2 text-sm font-medium hover:bg-surface-2',
        closeButton:
          'absolute top-2 right-2 flex size-6 items-center justify-center rounded-sm text-muted hover:bg-surface-2 hover:text-text',
      },
    }}
  />
)
