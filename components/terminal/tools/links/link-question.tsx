import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { LinkTarget } from '#lib/terminal/page/links.ts'
import { LinkAddress } from './link-tooltip.tsx'

/** A link somebody has to say yes to: its text names another address, or no pointer could show where it leads. */
export interface QuestionedLink {
  target: LinkTarget
  /** What its text names. */
  named: string | null
}

interface LinkQuestionProps extends QuestionedLink {
  onAnswer: (isWanted: boolean) => void
}

export const LinkQuestion = ({ target, named, onAnswer }: LinkQuestionProps) => (
  <Dialog
    open
    onOpenChange={() => onAnswer(false)}
    size="sm"
    title={named ? 'Open another address than the link names?' : 'Follow this link?'}
    footer={
      <>
        <Button onClick={() => onAnswer(false)}>Cancel</Button>
        <Button variant="primary" onClick={() => onAnswer(true)}>
          {wants[target.kind]}
        </Button>
      </>
    }
  >
    <div className="space-y-3 text-lg">
      {named && (
        <div>
          <p>The text of the link names</p>
          <p className="mt-1 rounded-sm bg-surface-1 px-2 py-1">
            <VisibleText mono max={300}>
              {named}
            </VisibleText>
          </p>
        </div>
      )}
      <div>
        <p>{named ? 'but it leads to' : 'It leads to'}</p>
        <p className="mt-1 rounded-sm bg-surface-1 px-2 py-1">
          <LinkAddress target={target} />
        </p>
      </div>
    </div>
  </Dialog>
)

const wants: Record<LinkTarget['kind'], string> = {
  web: 'Open in a new tab',
  port: 'Open port',
  file: 'Download file',
}
