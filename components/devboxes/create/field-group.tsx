'use client'
import { type ReactNode, useEffect, useState } from 'react'

/** Fields under a title, closed while they are as they come; a problem in one of them opens it. */
export const FieldGroup = ({ title, filled, hasError, children }: FieldGroupProps) => {
  const [isOpen, setIsOpen] = useState(filled)
  useEffect(() => {
    if (hasError) setIsOpen(true)
  }, [hasError])
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      className="rounded-md border border-line"
    >
      <summary className="cursor-pointer px-3 py-2 font-medium">{title}</summary>
      <div className="space-y-5 px-3 pt-1 pb-4">{children}</div>
    </details>
  )
}

interface FieldGroupProps {
  title: string
  filled: boolean
  hasError: boolean
  children: ReactNode
}
