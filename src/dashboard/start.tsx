import { render } from 'preact';
import { Page } from './page.tsx';
import { beginSession } from './live/session.ts';

beginSession();
render(<Page />, document.getElementById('page')!);
