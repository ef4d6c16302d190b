import type { ReactNode } from 'react'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { LinkTarget } from '#lib/terminal/page/links.ts'
import { LinkAddress } from './link-tooltip.tsx'

/** A link that needs confirmation: its text shows another address, or there was no pointer to preview it. */
export interface QuestionedLink {
  target: LinkTarget
  named: string | null
}

interface LinkQuestionProps extends QuestionedLink {
  onAnswer: (isWanted: boolean) => void
}

export const LinkQuestion = ({ target, named, onAnswer }: LinkQuestionProps) => (
  <FormDialog
    open
    onOpenChange={() => onAnswer(false)}
    onSubmit={() => onAnswer(true)}
    size="sm"
    title={named ? 'Open a different address than shown?' : 'Follow this link?'}
    submitLabel={wants[target.kind]}
  >
    {named && (
      <Address words="The link text shows">
        <VisibleText mono max={300}>
          {named}
        </VisibleText>
      </Address>
    )}
    <Address words={named ? 'but it opens' : 'It opens'}>
      <LinkAddress target={target} />
    </Address>
  </FormDialog>
)

const Address = ({ words, children }: { words: string; children: ReactNode }) => (
  <div className="text-lg">
    <p>{words}</p>
    <p className="mt-1 rounded-sm bg-surface-1 px-2 py-1">{children}</p>
  </div>
)

const wants: Record<LinkTarget['kind'], string> = {
  web: 'Open in a new tab',
  port: 'Open port',
  file: 'Download file',
}
