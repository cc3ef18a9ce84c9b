import type { News } from '../store/news.ts';
import { Button } from '../ui/button.tsx';

/** What was done, for some seconds, with what can be done about it. */
export const Toasts = ({ news }: { readonly news: News }) => (
  <div class="toasts" role="status" aria-label="What happened">
    {news.toasts.value.map((toast) => (
      <div key={toast.text} class="toast">
        <span>{toast.text}</span>
        {toast.offer !== undefined && toast === news.newest && (
          <Button
            kind="small"
            act={() => {
              news.hide(toast);
              toast.offer!.act();
            }}
          >
            {toast.offer.label}
          </Button>
        )}
        <Button kind="small" isLocal label="Dismiss" act={() => news.hide(toast)}>
          ×
        </Button>
      </div>
    ))}
  </div>
);
