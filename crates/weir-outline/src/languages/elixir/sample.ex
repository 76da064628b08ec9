# SPDX-License-Identifier: Apache-2.0

defmodule Kitchen.Recipe do
  @moduledoc """
  Keeps recipes. A recipe has steps.

      iex> Recipe.new("soup")
  """

  use GenServer
  import Ecto.Changeset
  alias Kitchen.{Step, Tool}
  require Logger

  @behaviour Kitchen.Shown
  @derive {Jason.Encoder, only: [:name]}
  @enforce_keys [:name]
  defstruct [:name, steps: [], minutes: 10]

  @typedoc "A recipe."
  @type t :: %__MODULE__{
          name: String.t(),
          minutes: pos_integer()
        }
  @type result(a) :: {:ok, a} | {:error, term}
  @typep secret :: integer
  @opaque token :: binary

  @most 100

  @doc """
  Makes a recipe.

  ## Examples
  """
  @doc since: "1.2.0"
  @spec new(String.t(), keyword) :: t
  def new(name, opts \\ []) when is_binary(name) do
    %__MODULE__{name: name}
  end

  @doc "Adds a step."
  @spec add(t, Step.t()) :: {:ok, t} | {:error, :full}
  def add(%__MODULE__{steps: steps} = recipe, step)
  def add(%{steps: steps}, _step) when length(steps) > @most, do: {:error, :full}
  def add(recipe, step), do: {:ok, %{recipe | steps: [step | recipe.steps]}}

  @doc false
  def hidden(x), do: x

  @impl true
  def init(state) do
    {:ok, state}
  end

  @impl GenServer
  def handle_call(:next, _from, state), do: {:reply, nil, state}

  defp cut(text, 0), do: text
  defp cut(text, n), do: cut(text, n - 1)

  def count?, do: true

  def left <~> right do
    left + right
  end

  @doc "Cooks."
  defmacro cook(what, do: block) do
    quote do: unquote(block)
  end

  defmacrop stir(x), do: x
  defguard is_hot(x) when x > 60
  defguardp is_cold(x) when x < 5
  defdelegate wash(tool), to: Tool, as: :clean

  defmodule Step do
    @moduledoc false
    defstruct text: "", done: false

    def done?(%{done: done}), do: done
  end

  if Mix.env() == :dev do
    def debug(x), do: x
  end
end

defprotocol Kitchen.Shown do
  @doc "Shows it."
  @spec show(t) :: String.t()
  def show(thing)
end

defimpl Kitchen.Shown, for: Kitchen.Recipe do
  def show(recipe), do: recipe.name
end

defmodule Kitchen.Error do
  defexception [:message, code: 1]

  @callback handle(term, keyword) :: :ok | {:error, term}
  @macrocallback wrap(term) :: Macro.t()
  @optional_callbacks wrap: 1
end
