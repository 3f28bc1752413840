import { lazyView } from "../../components/lazy_view.tsx";
import type { FormProps } from "./form_props.ts";

/** A form of the console, of which the code is loaded when it is shown. */
export const FormView = lazyView<FormProps>(async () => (await import("./forms.tsx")).Forms);
