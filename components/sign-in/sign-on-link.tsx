'use client'
import { LogIn } from 'lucide-react'
import { ButtonAnchor } from '#components/ui/button.tsx'

/** Leads away to the provider, and so is no link of Next's. */
export const SignOnLink = ({ provider, href }: { provider: string; href: string }) => (
  <>
    <ButtonAnchor href={href} variant="primary" icon={LogIn} className="w-full">
      <span className="truncate">Sign in with {provider}</span>
    </ButtonAnchor>
    <p className="flex items-center gap-3 text-sm text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      or with an API key
    </p>
  </>
)
