"""`hiersum serve`: summaries over HTTP."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from hiersum.cli.options import (
    ConfigOption,
    ModelOption,
    RayAddressOption,
    SetOption,
    note,
)
from hiersum.config import load_config
from hiersum.errors import ConfigError, InputError, check_extra
from hiersum.jobs.distributed import check_engine
from hiersum.pretrained import recommended_settings

_LOCAL = ("127.0.0.1", "localhost", "::1")


def serve(
    host: Annotated[str, Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="The port; 0 picks a free one.")] = 8000,
    model: ModelOption = None,
    api_key: Annotated[
        str | None,
        Option(
            envvar="HIERSUM_API_KEY",
            show_envvar=True,
            help="API key. Prefer the variable: other users can see command lines.",
        ),
    ] = None,
    max_queue: Annotated[
        int | None, Option(min=1, help="Maximum waiting requests.  [default: 64]")
    ] = None,
    engine: Annotated[
        str, Option(help="Where to run: local (this process) or ray (replicas on a cluster).")
    ] = "local",
    replicas: Annotated[
        int | None, Option(min=1, help="Number of replicas, with --engine ray.  [default: 2]")
    ] = None,
    ray_address: RayAddressOption = None,
    config_path: ConfigOption = None,
    settings: SetOption = None,
) -> None:
    """Serve summaries over HTTP until Ctrl-C."""
    overrides = list(settings or ())
    if max_queue is not None:
        overrides.append(f"serving.max_queue={max_queue}")
    config = load_config(config_path, overrides, recommended=recommended_settings(model))
    if api_key is not None and not api_key.strip():
        raise ConfigError("--api-key is empty; leave it out to let everyone in")
    check_engine(engine, address=ray_address)
    if replicas is not None and engine != "ray":
        raise InputError("--replicas needs --engine ray")
    if host not in _LOCAL and api_key is None:
        note(f"anyone who can reach {host} can use this server; set --api-key to prevent that")
    check_extra("hiersum serve", "serve", "fastapi", "uvicorn", "prometheus_client")
    from hiersum.serving.server import listen, run_app, serve_replicas, url_of

    if engine == "ray":
        number = replicas or 2
        note(f"starting {number} replicas")
        serve_replicas(
            model=model,
            config=config,
            replicas=number,
            host=host,
            port=port,
            address=ray_address,
            api_key=api_key,
            tell=lambda url: note(f"{number} replicas serving at {url}"),
        )
        return
    with listen(host, port) as listener:  # first, so that a taken port is refused at once
        note("loading the model")
        from hiersum.pipeline import Summarizer
        from hiersum.serving.app import create_app

        summarizer = Summarizer.from_pretrained(model, config=config).prepare()
        app = create_app(summarizer, api_key=api_key)
        url = url_of(host, listener.getsockname()[1])
        note(f"serving {', '.join(summarizer.systems)} at {url}")
        run_app(app, listener)
