defmodule Kitchen.RecipeTest do
  use ExUnit.Case, async: true

  setup do
    {:ok, recipe: Kitchen.Recipe.new("soup")}
  end

  describe "add/2" do
    test "adds a step", %{recipe: recipe} do
      assert {:ok, _} = Kitchen.Recipe.add(recipe, "stir")
    end
  end

  test "counts" do
    assert true
  end

  defp helper(x), do: x
end
