import { VisibleText } from './visible-text.tsx'

/** What a row is named, on one line. */
export const NameText = ({ children }: { children: string | null | undefined }) =>
  children ? <VisibleText truncate>{children}</VisibleText> : <span className="font-normal text-muted">Unnamed</span>
