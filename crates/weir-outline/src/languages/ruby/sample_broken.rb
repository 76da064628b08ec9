# Counts things.
class Counter
  attr_reader :count

  def add(by = 1)
    if by > 0
      @count += by
  end

  def reset
    @count = 0
  end
end

module Other
  def self.run(args)
  end
end
