import type { ReactNode } from 'react'
import { SettingsNavigation } from '#components/layout/settings-navigation.tsx'

export default ({ children }: { children: ReactNode }) => (
  <>
    <SettingsNavigation />
    {children}
  </>
)
